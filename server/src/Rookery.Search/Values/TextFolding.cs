using System.Buffers;
using System.Text;

namespace Rookery.Search.Values;

/// <summary>
/// Takes the case out of texts: each character becomes its lower-case one by Unicode's simple mapping, without culture;
/// only <c>İ</c> stays. One character stays one: <c>ß</c> is not <c>ss</c>, and accents stay.
/// </summary>
public static class TextFolding
{
    /// <summary>
    /// Bytes that a text of so many bytes can take without case: a character of two bytes may become one of three.
    /// </summary>
    public static int MaxBytes(int textBytes) => checked(textBytes + (textBytes / 2) + 4);

    /// <summary>Folds as much of a text as there is room for.</summary>
    /// <param name="text">Valid UTF-8; afterwards what is left of it.</param>
    /// <param name="destination">At least four bytes.</param>
    /// <returns>Bytes written; whole characters.</returns>
    public static int Fold(scoped ref ReadOnlySpan<byte> text, scoped Span<byte> destination)
    {
        int written = 0;
        while (!text.IsEmpty && written < destination.Length)
        {
            int most = Math.Min(text.Length, destination.Length - written);
            Ascii.ToLower(text[..most], destination[written..], out int plain);
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
    /// <param name="text">Valid UTF-8.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes of it.</param>
    /// <returns>Bytes written.</returns>
    public static int FoldAll(ReadOnlySpan<byte> text, Span<byte> destination) =>
        Ascii.ToLower(text, destination, out int written) == OperationStatus.Done
            ? written
            : Fold(ref text, destination);
}
