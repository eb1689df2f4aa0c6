using System.Buffers;
using System.Text;

namespace Rookery.Search.Values;

/// <summary>
/// Converts texts to lower case: each character by Unicode's simple mapping, without culture, except that <c>İ</c> is
/// unchanged. Each character becomes one character: <c>ß</c> does not become <c>ss</c>, and accents are kept.
/// </summary>
public static class TextFolding
{
    /// <summary>
    /// Returns the maximum bytes of a folded text, because a character of two bytes may become one of three.
    /// </summary>
    public static int MaxBytes(int textBytes) => checked(textBytes + (textBytes / 2) + 4);

    /// <summary>Folds as much of a text as fits.</summary>
    /// <param name="text">The text in valid UTF-8; on return the part that did not fit.</param>
    /// <param name="destination">At least four bytes.</param>
    /// <returns>Bytes written, always whole characters.</returns>
    public static int Fold(scoped ref ReadOnlySpan<byte> text, scoped Span<byte> destination)
    {
        int written = 0;
        while (!text.IsEmpty && written < destination.Length)
        {
            int max = Math.Min(text.Length, destination.Length - written);
            Ascii.ToLower(text[..max], destination[written..], out int plain);
            text = text[plain..];
            written += plain;
            while (!text.IsEmpty && text[0] >= 0x80)
            {
                Rune.DecodeFromUtf8(text, out Rune rune, out int length);
                if (!Rune.ToLowerInvariant(rune).TryEncodeToUtf8(destination[written..], out int encoded))
                {
                    return written;
                }

                text = text[length..];
                written += encoded;
            }
        }

        return written;
    }

    /// <summary>Folds a whole text.</summary>
    /// <param name="text">The text in valid UTF-8.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> of the text's length.</param>
    /// <returns>Bytes written.</returns>
    public static int FoldAll(ReadOnlySpan<byte> text, Span<byte> destination) =>
        Ascii.ToLower(text, destination, out int written) == OperationStatus.Done
            ? written
            : Fold(ref text, destination);
}
