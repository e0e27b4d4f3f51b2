"""hf: and speech: models in the transformers layout."""

import json
import os
import shutil

import numpy as np
import pytest
import torch

from backend.encoders.base import load_encoder
from backend.encoders.families import huggingface, speech
from backend.encoders.fetching import hub
from backend.errors import InputError
from tests.backend.encoders import conversion, tiny


def altered(folder, target, **changes):
    """A copy of a model folder with changes to its config.json."""
    shutil.copytree(folder, target)
    config = json.loads((target / "config.json").read_text())
    config.update(changes)
    (target / "config.json").write_text(json.dumps(config))
    return target


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.0, 3.0, 10.0])
def test_it_agrees_with_laion_on_the_same_weights(every_encoder, laion_file, tmp_path, seconds):
    folder = conversion.as_folder(laion_file, tmp_path / "converted")
    encoder = huggingface.load_folder("hf:x", folder)
    sounds = tiny.windows(3, seconds, 48_000)
    assert np.abs(encoder.embed_audio(sounds) - every_encoder["laion"].embed_audio(sounds)).max() <= 1e-4
    assert np.abs(encoder.embed_text(tiny.TEXTS) - every_encoder["laion"].embed_text(tiny.TEXTS)).max() <= 1e-4


def test_it_gives_what_transformers_gives(every_encoder, hf_folder):
    from transformers import ClapModel, ClapProcessor

    sounds = tiny.windows(3, 2.0, 48_000)
    model, processor = ClapModel.from_pretrained(hf_folder).eval(), ClapProcessor.from_pretrained(hf_folder)
    with torch.inference_mode():
        heard = model.get_audio_features(**processor(audio=list(sounds), sampling_rate=48000, return_tensors="pt"))
        read = model.get_text_features(**processor(text=tiny.TEXTS, padding=True, return_tensors="pt"))
    assert np.abs(every_encoder["hf"].embed_audio(sounds) - heard.pooler_output.numpy()).max() <= 1e-5
    assert np.abs(every_encoder["hf"].embed_text(tiny.TEXTS) - read.pooler_output.numpy()).max() <= 1e-5


def test_a_fusion_model_is_deterministic_too(hf_folder, tmp_path):
    """transformers declares one clip of a batch "longer", at random, when none is."""
    from transformers import ClapConfig, ClapModel

    folder = tmp_path / "fused"
    shutil.copytree(hf_folder, folder)
    config = ClapConfig.from_pretrained(hf_folder)
    config.audio_config.enable_fusion = True
    config.audio_config.fusion_type = None
    model = ClapModel(config)
    tiny.lively(model)
    model.save_pretrained(folder)
    encoder = huggingface.load_folder("hf:x", folder)
    sounds = tiny.windows(4, 2.0, 48_000)
    before = np.random.get_state()[1].copy()
    first = encoder.embed_audio(sounds)
    assert np.array_equal(np.random.get_state()[1], before)  # and nobody else's random numbers are touched
    assert np.array_equal(first, encoder.embed_audio(sounds))
    assert np.abs(first[2:3] - encoder.embed_audio(sounds[2:3])).max() <= 1e-5


@pytest.mark.parametrize("kind", ["wav2vec2", "hubert"])
def test_speech_is_the_mean_of_the_last_hidden_state(every_encoder, speech_folders, kind):
    from transformers import AutoModel, Wav2Vec2FeatureExtractor

    sounds = tiny.windows(3, 2.0, 16_000)
    model = AutoModel.from_pretrained(speech_folders[kind]).eval()
    extractor = Wav2Vec2FeatureExtractor.from_pretrained(speech_folders[kind])
    with torch.inference_mode():
        hidden = [
            model(**extractor(sound, sampling_rate=16_000, return_tensors="pt")).last_hidden_state.mean(1)[0]
            for sound in sounds
        ]
    expected = torch.nn.functional.normalize(torch.stack(hidden), dim=-1).numpy()
    name = {"wav2vec2": "speech-group", "hubert": "speech-layer"}[kind]
    assert np.abs(every_encoder[name].embed_audio(sounds) - expected).max() <= 1e-5


def test_speech_needs_a_tenth_of_a_second(every_encoder):
    with pytest.raises(InputError, match=r"at least 0\.1 s"):
        every_encoder["speech-group"].embed_audio(np.zeros((1, 800), dtype=np.float32))


def test_missing_weights_are_not_filled_at_random(hf_folder, speech_folders, tmp_path):
    from safetensors.torch import load_file, save_file

    for source, lost, family in (
        (hf_folder, "audio_projection.linear1.weight", huggingface.FAMILY),
        (speech_folders["wav2vec2"], "feature_projection.projection.weight", speech.FAMILY),
    ):
        folder = tmp_path / source.name
        shutil.copytree(source, folder)
        state = load_file(folder / "model.safetensors")
        state.pop(lost)
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(InputError, match=f"lack 1 of the model's, the first is {lost}"):
            family.load(f"{family.prefix}:{folder}")


def test_bad_folders_get_a_sentence_each(hf_folder, speech_folders, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    cut = tmp_path / "cut"
    shutil.copytree(hf_folder, cut)
    whole = (cut / "model.safetensors").read_bytes()
    (cut / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    broken = tmp_path / "broken"
    shutil.copytree(hf_folder, broken)
    (broken / "config.json").write_text("{")
    bare = tmp_path / "bare"
    shutil.copytree(hf_folder, bare)
    for name in huggingface.FEATURES:
        (bare / name).unlink(missing_ok=True)
    wide = tmp_path / "wide"
    altered(hf_folder, wide, text_config={**json.loads((hf_folder / "config.json").read_text())["text_config"],
                                          "hidden_size": 32})  # fmt: skip
    cases = {
        f"hf:{empty}": "holds no model",
        f"hf:{tmp_path / 'none'}": "There is no model",
        f"hf:{cut}": "cannot be read",
        f"hf:{broken}": "config.json .* cannot be read",
        f"hf:{bare}": "preprocessor_config.json",
        f"hf:{wide}": "cannot be read",
        f"hf:{speech_folders['hubert']}": "type 'hubert'",
        f"speech:{hf_folder}": "type 'clap'",
        "hf:": "There is no model|holds no model",
    }
    for encoder_id, sentence in cases.items():
        with pytest.raises(InputError, match=sentence) as caught:
            load_encoder(encoder_id, trusted=True)
        assert "\n" not in str(caught.value), encoder_id


class Hostile:
    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return (os.mkdir, (self.mark,))


def test_a_hostile_bin_is_not_run(hf_folder, tmp_path):
    folder, mark = tmp_path / "hostile", tmp_path / "ran"
    shutil.copytree(hf_folder, folder)
    (folder / "model.safetensors").unlink()
    torch.save({"logit_scale_a": Hostile(mark)}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot be read"):
        huggingface.FAMILY.load(f"hf:{folder}")
    assert not mark.exists()


def test_a_vocabulary_of_another_size_is_refused(hf_folder, tmp_path):
    folder = tmp_path / "words"
    shutil.copytree(hf_folder, folder)
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(InputError, match=r"vocabulary|tokenizer"):
        huggingface.FAMILY.load(f"hf:{folder}")


def test_named_models_are_found_among_the_downloads(downloads_folder, hf_folder, speech_folders):
    assert [info.id for info in huggingface.FAMILY.listed()] == [f"hf:{repo}" for repo in huggingface.KNOWN]
    assert len(huggingface.KNOWN) == 4
    for info in (*huggingface.FAMILY.listed(), *speech.FAMILY.listed()):
        assert not info.ready and info.downloadable and "download" in info.needs
        with pytest.raises(InputError, match="Download it first"):
            load_encoder(info.id)
    shutil.copytree(hf_folder, hub.download_folder("laion/larger_clap_general"))
    shutil.copytree(speech_folders["hubert"], hub.download_folder("facebook/hubert-large-ls960-ft"))
    ready = [info.id for info in (*huggingface.FAMILY.listed(), *speech.FAMILY.listed()) if info.ready]
    assert ready == ["hf:laion/larger_clap_general", "speech:hubert-large-ls960-ft"]
    assert not speech.FAMILY.load("speech:hubert-large-ls960-ft").has_text
