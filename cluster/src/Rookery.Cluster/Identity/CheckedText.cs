using System.Globalization;
using System.Text;
using Rookery.Disk;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A text file that shows its own damage: its last line holds the CRC-32C of those before. PEM allows text around its blocks (RFC 7468 5.2), so other programs read certificates and keys with it;
/// the checksum is needed because a verifier does not look at the signature of an authority that it trusts.
/// </summary>
internal static class CheckedText
{
    private const string CheckWord = "check ";

    /// <summary>The bytes of a file with this text, whose lines all end.</summary>
    public static byte[] Encode(string text) => Encoding.UTF8.GetBytes(text + CheckLine(text));

    /// <summary>The text of a file; null when it is not as it was written.</summary>
    public static string? Decode(ReadOnlySpan<byte> file)
    {
        string text = Encoding.UTF8.GetString(file);
        int end = text.LastIndexOf(CheckWord, StringComparison.Ordinal);
        return end >= 0 && string.Equals(text[end..], CheckLine(text[..end]), StringComparison.Ordinal) ? text[..end] : null;
    }

    private static string CheckLine(string content) => string.Create(CultureInfo.InvariantCulture, $"{CheckWord}{Checksum.Of(Encoding.UTF8.GetBytes(content)):x8}\n");
}
