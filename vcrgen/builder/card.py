"""The dataset card: README.md with the YAML header that `datasets` and the Hub read."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

from vcrgen.builder.options import BuildConfig
from vcrgen.core.options import legacy_values
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import without_marks
from vcrgen.data.manifest import Manifest
from vcrgen.data.tasks.vcr import VCR, SplitStatistics, has_white_rows
from vcrgen.text.languages import LANGUAGES, TARGET_BAND, LanguageRow
from vcrgen.typeset.cover_kinds import ROWS
from vcrgen.typeset.paper_kinds import BLACK, PLAIN

# The Hub's size classes: for fewer rows than 10 to the power of 3, 4 ...
CLASSES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
SIZES = [(10**power, name) for power, name in enumerate(CLASSES, start=3)]
HUB_LICENSE = re.compile(r"[a-z0-9][a-z0-9.-]{1,40}")

WARPED = {
    "spans": "; `boxes` are empty, as no box holds in a warped image",
    **dict.fromkeys(("strip_height", "strip_y", "only_it_strip_y"), ", before the image was warped"),
}
LEVELS_NOTE = "the share of a span's ink that covers leave at this level, as in `ink-0.20`"
BITS_NOTE = "the bits that the visible pixels of every span leave at least, as in `bits-4`"
Statistics = Mapping[tuple[str, str], SplitStatistics]  # by mode and split


def dataset_card(manifest: Manifest, statistics: Statistics) -> str:
    """Markdown with a YAML header, for the dataset's ``README.md``."""
    template = (files("vcrgen.builder") / "card.md").read_text(encoding="utf-8")
    row = LANGUAGES[manifest.config["lang"]]
    text = template.format(
        language=row.name,
        modes=" and ".join(filter(None, (", ".join(manifest.modes[:-1]), manifest.modes[-1]))),
        source=without_marks(manifest.source),
        license=without_marks(manifest.config["source_license"] or "not stated"),
        mode=manifest.modes[-1],
        choice=" or ".join(manifest.modes),
        statistics=statistics_table(statistics),
        band=TARGET_BAND,
        targets=target_origin(row),
        pixels=pixels_note(manifest),
        manifest=manifest,
        read=pluralize(manifest.read, "pair was", "pairs were"),
        rejected=rejected_table(manifest.rejected) + cleaned_note(manifest.cleaned),
        columns="\n".join(f"| `{name}` | {note} |" for name, note in column_notes(manifest.config).items()),
        covered=describe_covers(manifest.config),
    )
    return f"---\n{_head(manifest)}---\n\n{text}"


def target_origin(row: LanguageRow) -> str:
    """A sentence on cover targets measured in another language; empty for a language of its own."""
    shares = " and ".join(f"{target.visible} ({mode})" for mode, target in row.cover_targets.items())
    why = f"since no public {row.name} dataset could be measured"
    return (
        f" A cover aims at the share of ink that {row.targets_of} ones leave, {shares}, {why}."
        if row.targets_of
        else ""
    )


def pixels_note(manifest: Manifest) -> str:
    """A paragraph on what the visible pixels alone tell; empty where it was not measured."""
    if has_threshold(manifest.config):
        return (
            "\n\nBits: a lower bound of what the visible pixels of a span leave to infer (the equivocation), before "
            "images are degraded; b bits are about 2^b equally likely readings. Lexicon and noise are in the signature."
        )
    if has_white_rows(manifest.signature):
        return (
            "\n\n**Settled by pixels.** Modes say how much ink is left, not how much must be inferred. Under white "
            "rows a program that renders words and compares pixels recovers most or all spans, without the image. "
            "Compare models with it on the same spans: `vcrgen baseline template`."
        )
    return ""


def has_threshold(config: Mapping[str, Any]) -> bool:
    """Covers were accepted by the bits that they leave."""
    return bool(config.get("least_bits")) or config["mode"].startswith("bits=")


def column_notes(config: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a dataset of one configuration with their descriptions."""
    built = BuildConfig(**{name: config[name] for name in legacy_values(BuildConfig) if name in config})
    notes = {"ink": LEVELS_NOTE, "bits": BITS_NOTE}
    changed = {"mode": note} if (note := notes.get(config["mode"].partition("=")[0])) else {}
    if built.is_warped:
        changed |= {name: VCR.descriptions[name] + note for name, note in WARPED.items()}
    return (
        dict(VCR.descriptions)
        | changed
        | {name: note for name, (_, note) in VCR.optional_features.items() if name in built.optional_columns}
    )


def describe_covers(config: Mapping[str, Any]) -> str:
    """The end of a sentence on covers, and sentences on distractors and degradation."""
    built = {**legacy_values(BuildConfig), **config}
    how = "so that only their top and bottom pixels are left"
    if built["cover"] != ROWS:
        how = "by covers of the kind `{cover}`".format(**built)
    if has_threshold(config):
        levels = config["mode"].partition("bits=")[2] or f"{built['least_bits']:g}"
        how += f", accepted if the visible pixels of a span leave at least {levels} bits"
    if built["distractors"]:
        how += ". {distractors} more covers of a pair hide no text".format(**built)
    if (built["paper"], built["ink_colour"]) != (PLAIN, BLACK):
        how += ". Captions are printed on `{paper}` paper in the colour `{ink_colour}`".format(**built)
    if built["degrade"]:
        how += ". The images with a strip were then degraded: `{degrade}`".format(**built)
    return how


def statistics_table(statistics: Statistics) -> str:
    """The statistics of the paper's Table 4 and the visible ink as a Markdown table."""
    has_bits = any(row.pixel_bits for row in statistics.values())
    bits_heads = " bits: median | 10th pct | below 1 bit |" if has_bits else ""
    lines = [
        "| mode | split | pairs | spans | stacked height, px: mean (sd) | 5th-95th pct | spans per image: mean (sd) "
        f"| 5th-95th pct | visible ink | spans off target |{bits_heads}",
        f"|---|---|---|---|---|---|---|---|---|---|{'---|' * bits_heads.count('|')}",
    ]
    for (mode, split), row in statistics.items():
        height, spans, ink = row.height, row.spans_per_image, row.visible_ink
        assert ink is not None  # a build records it
        lines.append(
            f"| {mode} | {split} | {row.rows} | {row.spans} | {height.mean:.2f} ({height.sd:.2f}) "
            f"| {height.p05:.0f}-{height.p95:.0f} | {spans.mean:.2f} ({spans.sd:.2f}) "
            f"| {spans.p05:.0f}-{spans.p95:.0f} | {ink.mean:.2f} | {row.outside} |"
            + (f" {bits.median:.2f} | {bits.p10:.2f} | {bits.settled:.1%} |" if (bits := row.pixel_bits) else "")
        )
    return "\n".join(lines)


def rejected_table(rejected: Mapping[str, int]) -> str:
    """Reject reasons with counts as a Markdown table, the most frequent first; empty without rejects."""
    ranked = sorted(rejected.items(), key=lambda item: (-item[1], item[0]))
    lines = [" Rejected pairs, each with its reason in `rejects.jsonl`:", "", "| reason | pairs |", "|---|---|"]
    return "\n".join([*lines, *(f"| {reason} | {count} |" for reason, count in ranked)]) if rejected else ""


def cleaned_note(cleaned: Mapping[str, int]) -> str:
    """A paragraph on what was cleaned in how many captions; empty if nothing was."""
    ranked = sorted(cleaned.items(), key=lambda item: (-item[1], item[0]))
    counts = ", ".join(f"{kind} {count}" for kind, count in ranked)
    return (
        f"\n\nCaptions were cleaned of what the web leaves in them, of pairs with duplicates: {counts}."
        if counts
        else ""
    )


def _head(manifest: Manifest) -> str:
    lang, license_id = manifest.config["lang"], manifest.config["source_license"]
    head: dict[str, Any] = {
        "pretty_name": f"VCR ({LANGUAGES[lang].name})",
        "language": [lang],
        "task_categories": ["visual-question-answering", "image-text-to-text"],
        "tags": ["visual-caption-restoration", "vcr"],
        "size_categories": [next((name for limit, name in SIZES if manifest.pairs < limit), "n>1T")],
        "configs": [
            {
                "config_name": mode,
                # `datasets` keys its cache by folder name and configuration: without this, another dataset in a folder
                # of the same name would be shown from the cache.
                "description": f"content {manifest.digest}",
                **({"default": True} if mode == manifest.modes[0] else {}),
                "data_files": [
                    {"split": split, "path": f"{manifest.folder_pattern(mode)}/{split}-*.parquet"}
                    for split in manifest.splits
                ],
            }
            for mode in manifest.modes
        ],
    }
    if license_id:
        hub_license = HUB_LICENSE.fullmatch(license_id)
        head["license"] = license_id if hub_license else "other"
        if not hub_license:
            head["license_name"] = without_marks(license_id)
    return yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
