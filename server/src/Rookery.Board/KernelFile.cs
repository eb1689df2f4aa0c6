using System.Buffers.Text;
using System.Text;
using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// A small file that the kernel makes when it is read. It stays open, because reading it again from its beginning asks
/// the kernel anew, and takes no memory. What is not there, or refuses, is null, and is looked for again at the next
/// read.
/// </summary>
internal sealed class KernelFile(IDisk disk, string? path) : IDisposable
{
    private const int MostBytes = 512;

    private IDiskFile? _file;

    /// <summary>The first number of the file, decimal; null when there is none.</summary>
    public long? ReadNumber()
    {
        Span<byte> text = stackalloc byte[MostBytes];
        return Utf8Parser.TryParse(text[..Read(text)], out long value, out _) ? value : null;
    }

    /// <summary>The first number of the file, hexadecimal with or without 0x; null when there is none.</summary>
    public uint? ReadHexadecimal()
    {
        Span<byte> text = stackalloc byte[MostBytes];
        ReadOnlySpan<byte> found = text[..Read(text)];
        found = found.StartsWith("0x"u8) ? found[2..] : found;
        return Utf8Parser.TryParse(found, out uint value, out _, 'x') ? value : null;
    }

    /// <summary>
    /// The number at a place among those of the first line, separated by spaces; null when there is none.
    /// </summary>
    public long? ReadField(int index)
    {
        Span<byte> text = stackalloc byte[MostBytes];
        ReadOnlySpan<byte> rest = text[..Read(text)];
        for (; ; index--)
        {
            rest = rest.TrimStart((byte)' ');
            if (!Utf8Parser.TryParse(rest, out long value, out int length))
            {
                return null;
            }

            if (index == 0)
            {
                return value;
            }

            rest = rest[length..];
        }
    }

    /// <summary>
    /// The whole numbers of the line that begins with a name, as many as there are and fit; 0 when there is no such
    /// line among the first 512 bytes.
    /// </summary>
    public int ReadLine(ReadOnlySpan<byte> name, Span<long> numbers)
    {
        Span<byte> text = stackalloc byte[MostBytes];
        ReadOnlySpan<byte> rest = text[..Read(text)];
        while (!rest.StartsWith(name))
        {
            int end = rest.IndexOf((byte)'\n');
            if (end < 0)
            {
                return 0;
            }

            rest = rest[(end + 1)..];
        }

        rest = rest[name.Length..];
        int found = 0;
        for (; found < numbers.Length; found++)
        {
            rest = rest.TrimStart((byte)' ');
            if (!Utf8Parser.TryParse(rest, out numbers[found], out int length))
            {
                break;
            }

            rest = rest[length..];
        }

        return found;
    }

    /// <summary>The text without what surrounds it; null when there is none.</summary>
    public string? ReadText()
    {
        Span<byte> text = stackalloc byte[MostBytes];
        ReadOnlySpan<byte> found = text[..Read(text)].Trim(" \n\0"u8);
        return found.IsEmpty ? null : Encoding.UTF8.GetString(found);
    }

    /// <summary>The text of a file that is read once.</summary>
    public static string? ReadText(IDisk disk, string path)
    {
        using var once = new KernelFile(disk, path);
        return once.ReadText();
    }

    /// <summary>Whether a file can be seen from here.</summary>
    public static bool IsThere(IDisk disk, string path)
    {
        try
        {
            return disk.Exists(path);
        }
        catch (DiskException)
        {
            return false;
        }
    }

    public void Dispose() => _file?.Dispose();

    private int Read(Span<byte> buffer)
    {
        try
        {
            if (_file is null && (path is null || !disk.Exists(path)))
            {
                return 0;
            }

            _file ??= disk.Open(path!, DiskOpen.Read);
            return _file.Read(buffer, 0);
        }
        catch (DiskException)
        {
            // A sensor that has no value now, or whose driver has gone.
            _file?.Dispose();
            _file = null;
            return 0;
        }
    }
}
