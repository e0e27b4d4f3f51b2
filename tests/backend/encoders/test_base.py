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


# The same from the command line.


def command(capsys, *arguments):
    """Exit code, standard output as JSON where there is any, standard error."""
    import json

    from backend.__main__ import main

    code = main(["encoders", *arguments])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else None, said.err


def test_the_command_line_tests_and_strips(capsys, laion_file, tmp_path):
    code, found, _ = command(capsys, "--json", "--test", f"laion:{laion_file}")
    assert code == 0 and found["weights"] and found["text_cosine"] > 0.9 and "collapsed" in found["warnings"][0]
    base.forget_encoder(f"laion:{laion_file}")
    target = tmp_path / "lean.safetensors"
    code, found, _ = command(capsys, "--json", "--strip", str(laion_file), str(target))
    assert code == 0 and found["written"] == str(target) and target.is_file()
    (tmp_path / "bad.pt").write_bytes(b"PK")
    code, found, said = command(capsys, "--strip", str(tmp_path / "bad.pt"), str(target))
    assert code == 1 and found is None and said.count("\n") == 1


def test_the_command_line_downloads_only_what_is_listed(capsys, downloads_folder):
    code, found, said = command(capsys, "--download", "process:touch x")
    assert code == 2 and found is None and "cannot be downloaded here" in said
    code, found, said = command(capsys, "--download", "pocket", "--test", "pocket")
    assert code == 2 and found is None
