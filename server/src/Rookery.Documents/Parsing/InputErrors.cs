using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Decoding = System.Buffers.OperationStatus;

namespace Rookery.Documents.Parsing;

/// <summary>Builds the errors for refused input, with their texts.</summary>
internal static class InputErrors
{
    /// <summary>Returns an error at an offset in JSON text.</summary>
    public static InputError InJson(InputErrorCode code, ReadOnlySpan<byte> json, int offset)
    {
        (string problem, string advice) = Describe(code, json, offset);
        return new InputError(code, problem, JsonPlace.Locate(json, offset), advice);
    }

    /// <summary>Returns an error at an offset in JSON text, with the caller's own sentences, without full
    /// stops.</summary>
    public static InputError InJson(
        InputErrorCode code,
        ReadOnlySpan<byte> json,
        int offset,
        string problem,
        string advice
    ) => new(code, problem, JsonPlace.Locate(json, offset), advice);

    /// <summary>Returns an error about a request parameter.</summary>
    public static InputError InParameter(InputErrorCode code, string name, string problem, string advice) =>
        new(code, problem, new InputPlace(ByteOffset: -1, Line: 0, name), advice);

    /// <summary>Returns the offset of the first byte that is not valid UTF-8.</summary>
    public static int FirstInvalidUtf8(ReadOnlySpan<byte> text)
    {
        int at = 0;
        while (at < text.Length && Rune.DecodeFromUtf8(text[at..], out _, out int length) == Decoding.Done)
        {
            at += length;
        }

        return at;
    }

    private static (string What, string Advice) Describe(InputErrorCode code, ReadOnlySpan<byte> json, int offset) =>
        code switch
        {
            InputErrorCode.UnexpectedEnd => (
                "The JSON ends before it is complete",
                "Send the whole value; check that the body was not cut"
            ),
            InputErrorCode.UnexpectedCharacter => (
                $"{Character(json, offset)} is not allowed here",
                "Send JSON as RFC 8259 defines it: no comments, no trailing commas, names in double quotes"
            ),
            InputErrorCode.TrailingData => (
                $"{Character(json, offset)} follows the end of the value",
                "Send exactly one JSON value"
            ),
            InputErrorCode.ControlCharacterInString => (
                $"A string holds {Character(json, offset)} unescaped",
                "Write control characters as \\u escapes"
            ),
            InputErrorCode.InvalidEscape => (
                "A string holds an escape that JSON does not have",
                "Use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hexadecimal digits"
            ),
            InputErrorCode.LoneSurrogate => (
                "A string holds half of a surrogate pair",
                "Write characters beyond U+FFFF as two \\u escapes, or as UTF-8"
            ),
            InputErrorCode.InvalidNumber => (
                "A number is not written as JSON writes numbers",
                "Write digits, optionally a fraction and an exponent; no leading zeros, no plus sign"
            ),
            InputErrorCode.InvalidUtf8 => ("The bytes are not valid UTF-8", "Encode the text as UTF-8"),
            InputErrorCode.DuplicateKey => (
                $"An object names the key {Key(json, offset)} twice",
                "Give each key of an object once"
            ),
            InputErrorCode.TooDeep => (
                $"Objects and arrays are nested deeper than {JsonLimits.MaxDepth} levels",
                "Flatten the document"
            ),
            InputErrorCode.DocumentTooLarge => (
                $"The document is larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                "Split it into several documents"
            ),
            InputErrorCode.ObjectRequired => ($"{Type(json, offset)} is where an object must be", "Send {…}"),
            InputErrorCode.ArrayRequired => ($"{Type(json, offset)} is where an array must be", "Send […]"),
            InputErrorCode.StringRequired => (
                $"{Type(json, offset)} is where a string must be",
                "Send the text in double quotes"
            ),
            InputErrorCode.NotAnObject => ("A document must be a JSON object", "Send {…}"),
            _ => (code.ToString(), "Correct the request"),
        };

    /// <summary>Returns the string whose opening quote is at the offset, shortened to 64 bytes.</summary>
    private static string Key(ReadOnlySpan<byte> json, int offset)
    {
        const int MaxBytes = 64;
        return ShortText.Of(json[offset..JsonText.SkipString(json, offset)], MaxBytes);
    }

    /// <summary>Returns the JSON type of the value at the offset, as the first words of a sentence.</summary>
    private static string Type(ReadOnlySpan<byte> json, int offset) =>
        json[offset] switch
        {
            (byte)'{' => "An object",
            (byte)'[' => "An array",
            (byte)'"' => "A string",
            (byte)'t' => "true",
            (byte)'f' => "false",
            (byte)'n' => "null",
            _ => "A number",
        };

    private static string Character(ReadOnlySpan<byte> json, int offset)
    {
        byte value = json[offset];
        return value is > 0x20 and < 0x7F ? $"'{(char)value}'" : $"byte 0x{value:X2}";
    }
}
