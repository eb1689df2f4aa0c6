using System.Text;
using System.Text.Unicode;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Scripting.Values;
using Decoding = System.Buffers.OperationStatus;

namespace Rookery.Documents.Ids;

/// <summary>The rules for document ids: UTF-8, compared without regard to casing, stored as written.</summary>
public static class DocumentId
{
    /// <summary>Maximum length of an id in UTF-8, as written and lower-cased.</summary>
    public const int MaxBytes = JsonLimits.MaxIdBytes;

    /// <summary>
    /// Maximum length of what the server appends to an id: 19 digits and the tag, or an identity's value.
    /// </summary>
    internal const int MaxSuffixBytes = 21;

    /// <summary>
    /// Checks an id of an existing document: not empty, UTF-8, no control characters, at most <see cref="MaxBytes"/>
    /// before and after lower-casing.
    /// </summary>
    public static bool TryValidate(ReadOnlySpan<byte> id, out InputError error)
    {
        if (id.IsEmpty)
        {
            return Refuse("The document id is empty", "Name the document", out error);
        }

        return TryValidate(id, MaxBytes, out error);
    }

    /// <summary>
    /// Checks an id for a put: as <see cref="TryValidate(ReadOnlySpan{byte}, out InputError)"/>, but it may be empty
    /// (the server chooses a GUID), or end with <c>/</c> (the server appends a number) or <c>|</c> (the server appends
    /// the identity's next value).
    /// </summary>
    public static bool TryValidateForStore(ReadOnlySpan<byte> id, out InputError error)
    {
        if (id.IsEmpty)
        {
            error = default;
            return true;
        }

        bool isPrefix = id[^1] is (byte)'/' or (byte)'|';
        if (isPrefix && id.Length == 1)
        {
            return Refuse(
                "The document id has no name before its last character",
                "Send a prefix such as users/ or users|",
                out error
            );
        }

        return TryValidate(id, isPrefix ? MaxBytes - MaxSuffixBytes : MaxBytes, out error);
    }

    /// <summary>
    /// Lower-cases a valid id by the table of <see cref="LetterCase"/>, which is the same on all members, whatever
    /// version of Unicode their runtimes know.
    /// </summary>
    /// <param name="id">A valid id or prefix.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int ToLower(ReadOnlySpan<byte> id, Span<byte> destination) =>
        TryToLower(id, destination, out int written)
            ? written
            : throw new ArgumentException("The id is not valid: check ids before using them.", nameof(id));

    /// <summary>Whether two valid ids name the same document.</summary>
    internal static bool AreEqual(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        Span<byte> lowerLeft = stackalloc byte[MaxBytes];
        Span<byte> lowerRight = stackalloc byte[MaxBytes];
        return lowerLeft[..ToLower(left, lowerLeft)].SequenceEqual(lowerRight[..ToLower(right, lowerRight)]);
    }

    /// <summary>Lower-cases a text; returns false if it is not UTF-8 or the result does not fit.</summary>
    internal static bool TryToLower(ReadOnlySpan<byte> id, Span<byte> destination, out int written)
    {
        if (Ascii.ToLower(id, destination, out written) == Decoding.Done)
        {
            return true;
        }

        // Until its first failure, Ascii.ToLower wrote one byte for each byte that it read.
        int read = written;
        while (read < id.Length)
        {
            if (
                Rune.DecodeFromUtf8(id[read..], out Rune rune, out int length) != Decoding.Done
                || !LetterCase.ToLower(rune).TryEncodeToUtf8(destination[written..], out int encoded)
            )
            {
                return false;
            }

            read += length;
            written += encoded;
        }

        return true;
    }

    private static bool TryValidate(ReadOnlySpan<byte> id, int maxBytes, out InputError error)
    {
        error = default;
        if (id.Length > maxBytes)
        {
            return Refuse(
                $"The document id takes {id.Length} bytes, and at most {maxBytes} are allowed",
                "Choose a shorter id",
                out error
            );
        }

        if (Ascii.IsValid(id))
        {
            return !(id.ContainsAnyInRange((byte)0, (byte)0x1F) || id.Contains((byte)0x7F))
                || Refuse("The document id holds a control character", "Use printable characters", out error);
        }

        Span<byte> lower = stackalloc byte[MaxBytes];
        if (!Utf8.IsValid(id))
        {
            return Refuse("The document id is not valid UTF-8", "Encode it as UTF-8", out error);
        }

        if (!TryToLower(id, lower[..maxBytes], out _))
        {
            return Refuse(
                $"The document id takes more than {maxBytes} bytes when lower-cased",
                "Choose a shorter id",
                out error
            );
        }

        return !HoldsControlCharacter(id)
            || Refuse("The document id holds a control character", "Use printable characters", out error);
    }

    private static bool HoldsControlCharacter(ReadOnlySpan<byte> id)
    {
        while (!id.IsEmpty)
        {
            Rune.DecodeFromUtf8(id, out Rune rune, out int length);
            if (Rune.IsControl(rune))
            {
                return true;
            }

            id = id[length..];
        }

        return false;
    }

    private static bool Refuse(string problem, string advice, out InputError error)
    {
        error = InputErrors.InParameter(InputErrorCode.InvalidId, "id", problem, advice);
        return false;
    }
}
