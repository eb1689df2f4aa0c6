using System.Globalization;
using System.Text;
using Rookery.Platform;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A text file with a checksum: the last line contains the CRC-32C of the preceding lines. PEM permits text around its
/// blocks (RFC 7468 5.2), so other programs can still read certificates and keys. The checksum is needed because TLS
/// stacks do not verify the signature of a trusted authority.
/// </summary>
internal static class CheckedText
{
    private const string CheckWord = "check ";
    private const int MaxBytes = 1 << 20;

    /// <summary>Returns the bytes of a file with this text. The text must end with a line break.</summary>
    public static byte[] Encode(string text) => Encoding.UTF8.GetBytes(text + CheckLine(text));

    /// <summary>Returns the text of a file; null when the checksum does not match.</summary>
    public static string? Decode(ReadOnlySpan<byte> file)
    {
        string text = Encoding.UTF8.GetString(file);
        int end = text.LastIndexOf(CheckWord, StringComparison.Ordinal);
        return end >= 0 && string.Equals(text[end..], CheckLine(text[..end]), StringComparison.Ordinal)
            ? text[..end]
            : null;
    }

    /// <summary>Reads a file, at most its first 1 MiB. Files written by this class are smaller.</summary>
    public static byte[] ReadBytes(IDisk disk, string path)
    {
        using var file = disk.Open(path, DiskOpen.Read);
        byte[] content = new byte[Math.Min(file.Length, MaxBytes)];
        return content[..file.Read(content, 0)];
    }

    /// <summary>Replaces a file in a directory durably and atomically.</summary>
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
