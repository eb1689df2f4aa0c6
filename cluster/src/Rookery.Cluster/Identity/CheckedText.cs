using System.Globalization;
using System.Text;
using Rookery.Platform;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A text file that shows its own damage: its last line holds the CRC-32C of those before. PEM allows text around its
/// blocks (RFC 7468 5.2), so other programs read certificates and keys with it; the checksum is needed because a
/// verifier does not look at the signature of an authority that it trusts.
/// </summary>
internal static class CheckedText
{
    private const string CheckWord = "check ";
    private const int MostBytes = 1 << 20;

    /// <summary>The bytes of a file with this text, whose lines all end.</summary>
    public static byte[] Encode(string text) => Encoding.UTF8.GetBytes(text + CheckLine(text));

    /// <summary>The text of a file; null when it is not as it was written.</summary>
    public static string? Decode(ReadOnlySpan<byte> file)
    {
        string text = Encoding.UTF8.GetString(file);
        int end = text.LastIndexOf(CheckWord, StringComparison.Ordinal);
        return end >= 0 && string.Equals(text[end..], CheckLine(text[..end]), StringComparison.Ordinal)
            ? text[..end]
            : null;
    }

    /// <summary>The bytes of a file, of which one that we wrote has no more than 1 MiB.</summary>
    public static byte[] ReadBytes(IDisk disk, string path)
    {
        using var file = disk.Open(path, DiskOpen.Read);
        byte[] content = new byte[Math.Min(file.Length, MostBytes)];
        return content[..file.Read(content, 0)];
    }

    /// <summary>Writes a file of a directory, durably and all at once.</summary>
    public static void Replace(IDisk disk, string directory, string name, string text)
    {
        string path = Path.Join(directory, name);
        string temporary = path + ".new";
        if (disk.Exists(temporary))
        {
            disk.Delete(temporary);
        }

        using (var file = disk.Open(temporary, DiskOpen.CreateNew))
        {
            file.Write(Encode(text), 0);
            file.Sync();
        }

        disk.Rename(temporary, path);
        disk.SyncDirectory(directory);
    }

    private static string CheckLine(string content) =>
        string.Create(CultureInfo.InvariantCulture, $"{CheckWord}{Checksum.Of(Encoding.UTF8.GetBytes(content)):x8}\n");
}
