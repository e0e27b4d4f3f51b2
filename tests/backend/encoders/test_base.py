"""An encoder id can name a file or a program; who may name which."""

import pytest

from backend.encoders import base
from backend.encoders.base import encoder_list, load_encoder, own_encoders
from backend.errors import InputError
from backend.settings import settings
from tests.backend.encoders.conftest import EXAMPLE


@pytest.fixture
def owner(monkeypatch):
    """Set what the owner of the machine added."""

    def add(ids):
        monkeypatch.setenv("UNHEARD_MORE_ENCODERS", ids)
        settings.cache_clear()

    yield add
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.parametrize(
    "encoder_id", ["process:touch {mark}", "m2d:{folder}", "laion:{mark}", "table:{mark}", "hf:{folder}"]
)
def test_a_stranger_cannot_name_a_file_or_start_a_program(tmp_path, encoder_id):
    asked = encoder_id.format(mark=tmp_path / "mark", folder=tmp_path)
    with pytest.raises(InputError, match="is not offered here"):
        load_encoder(asked)
    assert not list(tmp_path.iterdir())


def test_what_its_owner_loaded_is_not_for_strangers_either(every_encoder):
    assert load_encoder(every_encoder["table"].id, trusted=True) is every_encoder["table"]
    with pytest.raises(InputError, match="is not offered here"):
        load_encoder(every_encoder["table"].id)


def test_the_owner_can_offer_more(owner, table_file):
    added = f"table:{table_file}"
    owner(f" {added} ;; process:{EXAMPLE}")
    assert list(own_encoders()) == [added, f"process:{EXAMPLE}", "pocket"]
    listed = [info.id for info in encoder_list()]
    assert listed.count("pocket") == 1 and listed[-2:] == [added, f"process:{EXAMPLE}"]
    assert load_encoder(added).dim == 7
    base.forget_encoder(added)
    base._offered.discard(added)


def test_a_name_keeps_the_path_out_of_sight(owner, table_file):
    owner(f"study = table:{table_file}; broken=nothing:x; pocket=table:{table_file}")
    assert own_encoders()["study"] == f"table:{table_file}"
    encoder = load_encoder("study")
    with pytest.raises(InputError) as caught:
        encoder.embed_text(["not in it"])
    assert encoder.id == "study" and str(table_file) not in str(caught.value)
    with pytest.raises(InputError, match="there is no such encoder"):
        load_encoder("broken")
    assert load_encoder("pocket").id == "pocket"
    base.forget_encoder("study")
    base._offered.clear()


def test_an_unknown_family_is_named_as_such():
    for trusted in (False, True):
        with pytest.raises(InputError, match=r"There is no encoder 'clap:x'\. Known encoders: pocket"):
            load_encoder("clap:x", trusted=trusted)
    with pytest.raises(InputError, match="There is no encoder ''"):
        load_encoder("")
