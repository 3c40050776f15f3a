"""The category of a new record without one, from its operations and its words.

No heavy library is loaded here, because an agent waits for its record.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from vocabgap.model.record import OPERATION_ALIASES, UNCATEGORIZED, fold_operation, operation_key
from vocabgap.text import stem, words

# Operations of darktable by category. General ones (exposure, blending ...) are missing.
_OPERATIONS_OF: Final = {
    "tone": "sigmoid filmicrgb basecurve tonecurve rgbcurve toneequal levels rgblevels shadhi highlights"
    " hazeremoval tonemap globaltonemap zonesystem basicadj",
    "wb": "temperature",
    "color": "colorzones colorequal channelmixer channelmixerrgb colorin colorout"
    " colorcontrast colorcorrection colorize colorchecker monochrome velvia vibrance splittoning primaries"
    " lut3d",
    "detail": "sharpen denoiseprofile nlmeans rawdenoise hotpixels diffuse equalizer atrous bilat bilateral"
    " localcontrast clahe highpass lowpass grain defringe cacorrect cacorrectrgb demosaic lens",
    "local": "retouch spots liquify graduatednd vignette censorize mask masks",
    "composition": "crop clipping ashift flip rotatepixels scalepixels borders enlargecanvas",
}
OPERATION_CATEGORIES: Final[Mapping[str, str]] = {
    operation: category for category, names in _OPERATIONS_OF.items() for operation in names.split()
}


def by_operations(
    operations: Iterable[str],
    table: Mapping[str, str] = OPERATION_CATEGORIES,
    aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> str | None:
    """Return the category that most operations have; None if no category is known, or two are tied.

    `table` maps keys of operations (`operation_key`) to categories.
    """
    keys = {operation_key(fold_operation(name, aliases)) for name in operations}
    categories = (table.get(key, UNCATEGORIZED) for key in keys)
    return _leading(Counter(category for category in categories if category != UNCATEGORIZED))


_LOCAL: Final = "local"
# Words that outweigh all others, because they name a place in the image.
_PLACES: Final = (
    "mask selective region radial subject background foreground sky eye skin face local area retouch heal"
    " clone dodge burn only"
)
# Words and phrases of requests by category.
_WORDS: Final = {
    "tone": "shadow highlight exposure expose underexposed overexposed contrast contrasty luminance"
    " luminosity brightness bright brighten dark darken midtone blacks whites black_point white_point"
    " black_level tonal curve dynamic hdr lift clip gamma zone tone tone_mapping blown crushed density dim"
    " murky histogram roll_off high_key low_key washed_out backlit silhouette relight brighter darker"
    " lighten lighter dimmer intensity flicker day_for_night gradation bleached shiny glare gloomy black"
    " white_level shadowy stop gloom compress_range",
    "wb": "white_balance kelvin temperature colour_temperature color_temperature cast colour_cast"
    " color_cast blue_cast green_cast magenta_cast yellow_cast orange_cast green_tint magenta_tint tint"
    " warm warmth cool cold daylight tungsten fluorescent incandescent candlelight illuminant grey_card"
    " gray_card neutral_grey neutral_gray grey_point gray_point mixed_light wb cooler warmer colder bluish"
    " yellowish greenish pinkish lamplight sodium neon neutral neutralise neutralize red_cast cyan_cast"
    " balance color_balance colour_balance eyedropper neutral_point grey_chart gray_chart"
    " grey_balance gray_balance white_reference d50 d65",
    "color": "color colour colourful colorful recolor recolour hue saturation saturate vibrance vibrant"
    " chroma monochrome black_and_white sepia teal orange red green blue yellow magenta cyan purple grading"
    " palette desaturate split_tone duotone cross_process channel_mix lut gamut icc skin_tone"
    " selective_color selective_colour spot_color spot_colour pastel film_look emulation emulate flesh_tone"
    " bleach_bypass hand_tint brown pink violet olive gold golden pigment dye ink cmyk pantone rgb"
    " soft_proof rendering_intent monochromatic complementary chromatic hue_shift greyscale grayscale"
    " colormap colourmap bw b&w",
    "detail": "sharpen sharpness sharp sharper crisp unsharp_mask noise noisy denoise grain grainy texture"
    " clarity haze dehaze lens aberration fringe defringe moire halation halo microcontrast local_contrast"
    " blur blurry deblur detail softness soft_focus focus acutance deconvolution hot_pixel dead_pixel"
    " banding artifact artefact aliasing upscale resolution smooth bokeh distortion softer smoother finer"
    " degrain deband dehalo descreen despeckle speckle deinterlace stabilise stabilize weave diffusion"
    " structure edge pixelate jagged flare halftone jpeg iso denoiser focus_stack fine_line lens_blur deblur"
    " moiré legible crispness dpi enlarge",
    _LOCAL: f"{_PLACES} brush spot hair teeth corner blemish wrinkle scratch dust vignette erase inpaint"
    " object cutout isolate feather gradient graduated foliage power_window paint_out green_screen chroma_key"
    " rotoscope stain smudge crease tear torn fingerprint hole reflection stray inside part side logo"
    " number_plate cheek lip arm hand repair selection select object_removal",
    "composition": "crop straighten horizon aspect rotate rotation perspective keystone border reframe"
    " composition tilt flip mirror canvas thirds panorama margin skew zoom resize layout orientation"
    " upside_down letterbox vertical pan_and_scan punch_in centre center recentre recenter align alignment"
    " offset bleed padding square angle placement symmetry headroom rectangle trapezoid page_edge"
    " picture_frame deskew collage wider widen warp dewarp join stitch register spread trim extend scale",
}
# Words for a part of the image, if nothing else tells the category.
_REMOVALS: Final = "remove removal cover hide replace clean except behind whiten swap cut"


def likely_category(texts: Iterable[str | None], operations: Iterable[str]) -> str:
    """Return a category for a record without one, from its operations, else from its words.

    The first text with a clear category counts. A report may judge again, because it has all records.
    """
    of_words = filter(None, (_of_words(text) for text in texts if text))
    return by_operations(operations) or next(of_words, UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    category_of = _stems()
    stems = [stem(word) for word in words(text[:2_000])]  # the need is at the beginning
    category_by_phrase: dict[tuple[str, ...], str] = {}
    given = frozenset(stems)
    heads: list[str] = []  # of compounds such as "luminance noise"
    is_next = False
    while stems:
        # A phrase counts before its words: "white balance" is not about whites.
        phrases = (tuple(stems[:length]) for length in (3, 2, 1))
        phrase = next((each for each in phrases if each in category_of), None)
        if phrase is not None:
            category_by_phrase[phrase] = category_of[phrase]
            heads += [category_by_phrase[phrase]] * is_next
        is_next = phrase is not None
        del stems[: len(phrase or " ")]
    hits = Counter(category_by_phrase.values())
    has_place = any((stem(word),) in category_by_phrase for word in _PLACES.split())
    if has_place or not (hits or given.isdisjoint(map(stem, _REMOVALS.split()))):
        return _LOCAL
    return _leading(hits) or _leading(Counter(heads))


def _leading(votes: Counter[str]) -> str | None:
    """Return the name with most votes; None without votes, or in a tie."""
    leading = votes.most_common(2)
    is_level = len(leading) > 1 and leading[0][1] == leading[1][1]
    return None if is_level or not leading else leading[0][0]


@cache
def _stems() -> dict[tuple[str, ...], str]:
    return {
        tuple(map(stem, phrase.split("_"))): category
        for category, line in _WORDS.items()
        for phrase in line.split()
    }
