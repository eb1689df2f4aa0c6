using System.Globalization;
using System.Text;

namespace Rookery.Terminal;

/// <summary>Text of a stranger for a terminal: what would command it, or turn the order of letters, is written as an escape that is read (<c>\u001b</c>).</summary>
internal static class VisibleText
{
    private const int PieceLetters = 16 << 10;

    /// <summary>The same text, harmless.</summary>
    public static string Of(string text)
    {
        var visible = new StringBuilder(text.Length);
        Append(visible, text);
        return visible.ToString();
    }

    /// <summary>Copies UTF-8; what is none becomes U+FFFD.</summary>
    public static async Task CopyAsync(Stream from, Stream to, CancellationToken cancellation)
    {
        using var reader = new StreamReader(from, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false), detectEncodingFromByteOrderMarks: false, leaveOpen: true);
        char[] piece = new char[PieceLetters];
        var visible = new StringBuilder();
        var encoder = Encoding.UTF8.GetEncoder();
        for (int read; (read = await reader.ReadAsync(piece, cancellation)) > 0;)
        {
            visible.Clear();
            Append(visible, piece.AsSpan(0, read));
            string text = visible.ToString();
            byte[] bytes = new byte[encoder.GetByteCount(text, flush: false)];

            // A pair of surrogates may be cut here: the encoder keeps its first half.
            encoder.GetBytes(text, bytes, flush: false);
            await to.WriteAsync(bytes, cancellation);
        }
    }

    private static void Append(StringBuilder visible, ReadOnlySpan<char> text)
    {
        foreach (char letter in text)
        {
            if (IsHarmless(letter))
            {
                visible.Append(letter);
            }
            else
            {
                visible.Append(CultureInfo.InvariantCulture, $"\\u{(int)letter:x4}");
            }
        }
    }

    // Tab and newline are text; U+202A to U+202E and U+2066 to U+2069 turn the order.
    private static bool IsHarmless(char letter) => letter is '\n' or '\t' || !(char.IsControl(letter) || letter is (>= '\u202a' and <= '\u202e') or (>= '\u2066' and <= '\u2069'));
}
