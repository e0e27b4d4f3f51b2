"""Basic forms of absence in Chinese, which writes no spaces: cues are found longest first, the rest is content."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from backend.negation.query import Concept, Others, Query

_CUES = {
    "keep": "所有 需要 重要 主要 不停地 不停 不断地 不断 不间断 没完没了 無線 无线 无人机 不锈钢 非常 非洲 "
    "一只 两只 三只 几只 这只 那只 每只 无论 无疑 毫无疑问 不久 无数 别墅 别人 特别 分别 没关系 有没有",
    "double": "不是没有 不能没有 并非没有 不会没有 不無 不无 少不了",
    "both": "不仅 不但 不只是 不只 不光",
    "except": "除了 除去 除开 除",
    "longer": "不再 没再 不会再",
    "neg": "没有人说有 没人说有 没有任何 沒有任何 没有一点 没有 沒有 没 沒 毫无 無 无 不要 不想听到 不想听 我不要 "
    "不含 不带 不包括 不包含 听不到 听不见 不是 并非 并没有 "
    "而不是 而非 但不 也不 却不 并不 而不 不需要 缺少 缺乏 排除 去掉 避免 非 "
    "代替 取代 也没有 也无 也没 也不要 也不想听 既没有 既无 既没 又没有 又无",
    "only": "只有 只要 只是 只听到 只听 仅仅有 仅有 仅 只 光有",
    "but": "但是 但 可是 不过 然而 却 而是 反而 而",
    "with": "并且有 而且有 还有 以及 而且 并且 有着 有 听到 听见 既有 又有 也有 "
    "我想听 我要听 我想要 我要 要 请找 请播放 请给我 请 播放 寻找",
    "and": "和 与 跟 及 、 以外的 之外的 以外 之外",
    "or": "或者 或是 或",
    "end": "， , 。 ； ; ！ ! ？ ? ： : （ ） ( ) \n 然后 接着",
}
_ORDER = sorted(
    ((cue, kind) for kind, cues in _CUES.items() for cue in cues.split(" ")), key=lambda pair: -len(pair[0])
)
_IMPERSONAL = "下[大小暴]?[雨雪]|下冰?雹|刮[大]?风|打雷"
_SOUNDING = "[叫响唱说吵哭笑吠鸣弹咳吼喊喵汪]|讲话|播放|放音乐|敲"
_NOT_VERB = f"不(?=(?:再)?(?:{_IMPERSONAL}|{_SOUNDING}))"
"""Before a verb of sounding or weather; elsewhere the character is part of a longer word."""
_SCAN = re.compile("|".join([*(re.escape(cue) for cue, _ in _ORDER if len(cue) > 1), _NOT_VERB,
                             *(re.escape(cue) for cue, _ in _ORDER if len(cue) == 1)]))  # fmt: skip
_KIND = dict(_ORDER) | {"不": "neg"}
_PREFIX = re.compile(
    r"^(?:不停地|不断地|一个|[一两三几这那每]只|一条|一些|一段|一阵|任何|其他|的|是|用|在|里|着|很多|许多|\s)+"
)
_SUFFIX = re.compile(r"(?:的时候|停了|停止了|停止|消失了|消失|不停|不断|不间断|里面|里|中|外|吗|呢|了|的|\s)+$")
_OTHERS = re.compile(r"^(?:其他|别的|其它|任何|所有|一切|都|什么)*(?:的)?(?:声音|声响|东西)?(?:都|都有|都可以|都行)?$")


_ENDS = re.compile(r"\s*(?:[，,。.；;！!？?]|$)")
_ALL = re.compile(r"(?:什么|啥|其他|别的|其它)?(?:声音|声响)?[都也](?:可以|行|要|好)?$")


@dataclass
class _State:
    polarity: str = "present"
    cue: tuple[str, int, int] | None = None
    excepted: tuple[str, int, int] | None = None
    present: list[Concept] = field(default_factory=list)
    absent: list[Concept] = field(default_factory=list)
    others: Others = ""
    pending: Concept | None = None
    """Excepted, and not yet known from what."""
    subject: Concept | None = None
    """What a 不 or 没 was said of."""


def parse_chinese(text: str) -> Query:
    """The Query of a Chinese text."""
    state = _State()
    place = 0
    for match in [*_SCAN.finditer(text), None]:
        start, end = (match.start(), match.end()) if match else (len(text), len(text))
        cue = match.group() if match else ""
        kind = _KIND[cue] if match else "end"
        if kind == "keep":
            continue
        state.others = "absent" if kind == "only" else state.others
        content = _content(text, place, start)
        if content is not None:
            _add(state, content, kind)
        state.subject = None
        if (
            (cue in ("不", "没", "没有") or kind == "longer")
            and content in state.present[-1:]
            and _takes_subject(content, text[end:])
        ):
            state.subject = state.present.pop()
        if kind == "neg" and content in state.present[-1:] and _ENDS.match(text, end):
            said = state.present.pop()  # "雨声要，风声不要": the answer stands behind
            state.absent.append(_absent(said, (cue, start, end)))
        _advance(state, kind, (cue, start, end))
        if kind == "with" and state.pending is not None and cue.startswith(("还", "有", "以及")):
            state.present.append(_present(state.pending))
            state.pending = None
        place = end
    if state.pending is not None:
        state.absent.append(state.pending)
    return Query(text, (*state.present, *state.absent), "zh", (), state.others)


def _add(state: _State, content: Concept, kind: str) -> None:
    """Add the words before a cue of ``kind`` under what holds there."""
    named = _ALL.sub("", content.text).strip() or content.text
    bare = Concept(named, "present", content.start, content.start + len(named))
    if state.excepted is not None and kind == "neg" and named != content.text:
        state.present.append(bare)  # "除了雨声什么都没有": nothing but rain
        state.others, state.excepted = "absent", None
    elif _OTHERS.match(content.text) or content.text in ("其他", "别的"):
        _add_rest(state)
    elif state.excepted is not None:
        state.others = "present" if named != content.text else state.others  # "除了雷声都可以": all but thunder
        state.pending = _absent(bare, state.excepted)
    elif state.polarity == "absent" and state.cue is not None:
        denied, head = _relative(_said_of(state.subject, content) if state.subject else content)
        state.absent.append(_absent(denied, state.cue))
        state.present += [head] if head else []
    else:
        state.present.append(_said_of(state.subject, content) if state.subject else content)


def _absent(content: Concept, cue: tuple[str, int, int]) -> Concept:
    return Concept(content.text, "absent", content.start, content.end, *cue, (content.start, content.end))


def _present(content: Concept) -> Concept:
    return Concept(content.text, "present", content.start, content.end)


def _add_rest(state: _State) -> None:
    """ "no other sounds", "everything else": decides what an exception before it comes to."""
    if state.pending is not None:
        pending, alone = state.pending, state.polarity == "absent"
        if alone:
            state.present.append(_present(pending))
        else:
            state.absent.append(pending)
        state.others, state.pending = "absent" if alone else "present", None
    elif state.polarity == "absent":
        state.others = "absent"


def _takes_subject(content: Concept | None, following: str) -> bool:
    """Whether 不 or 没 and a verb of sounding are said of the words before: not of a sound, 雨声没有叫声."""
    sounds = content is None or re.search(f"(?:{_SOUNDING}|声)$", content.text)
    return not sounds and bool(re.match(f"再?(?:{_SOUNDING})(?!\\w?\\w?声)", following))


def _said_of(subject: Concept, verb: Concept) -> Concept:
    """ "狗不叫": what is absent is 狗叫, its subject with its verb."""
    return Concept(subject.text + verb.text, "present", verb.start, verb.end)


def _relative(content: Concept) -> tuple[Concept, Concept | None]:
    """ "没有鼓声的音乐" is music without drums: what stands before 的 is absent, what stands after it is asked for."""
    before, of, after = (part.strip() for part in content.text.rpartition("的"))
    if not of or not before or not after:
        return content, None
    denied = Concept(before, "present", content.start, content.start + len(before))
    if _OTHERS.match(after):
        return denied, None
    return denied, Concept(after, "present", content.end - len(after), content.end)


def _advance(state: _State, kind: str, cue: tuple[str, int, int]) -> None:
    if kind == "neg":
        state.polarity, state.cue, state.excepted = "absent", cue, None
    elif kind == "except":
        state.excepted = cue
    elif kind in ("and", "or"):
        return
    else:
        state.polarity, state.cue, state.excepted = "present", None, None


def _content(text: str, start: int, end: int) -> Concept | None:
    """The concept between two cues, its edges cleaned."""
    piece = text[start:end]
    prefix = _PREFIX.match(piece)
    skipped = prefix.end() if prefix and not _OTHERS.match(piece.strip()) else 0
    body = piece[skipped:]
    if not _OTHERS.match(body):
        body = _SUFFIX.sub("", body)
    body = body.rstrip()
    lead = len(body) - len(body.lstrip())
    body = body.strip(" “”\"'‘’《》")
    if body in ("我", "我们", "你") or not any(character.isalnum() for character in body):
        return None
    first = start + skipped + lead
    return Concept(body, "present", first, first + len(body))
