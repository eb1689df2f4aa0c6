using System.Buffers.Text;
using System.Text;
using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// A small file that the kernel generates on each read. It stays open: reading from offset 0 gets new content and
/// allocates nothing. Reading a missing or unreadable file returns null; the next read tries to open it again.
/// </summary>
/// <param name="disk">The file system.</param>
/// <param name="path">Path of the file; null for a sensor that this machine lacks, which reads as a missing
/// file.</param>
internal sealed class KernelFile(IDisk disk, string? path) : IDisposable
{
    private const int MaxBytes = 512;

    private IDiskFile? _file;

    /// <summary>Reads the first number of the file, decimal; null if there is none.</summary>
    public long? ReadNumber()
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        return Utf8Parser.TryParse(text[..Read(text)], out long value, out _) ? value : null;
    }

    /// <summary>Reads the first number of the file, hexadecimal with or without 0x; null if there is none.</summary>
    public uint? ReadHexadecimal()
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        ReadOnlySpan<byte> digits = text[..Read(text)];
        digits = digits.StartsWith("0x"u8) ? digits[2..] : digits;
        return Utf8Parser.TryParse(digits, out uint value, out _, 'x') ? value : null;
    }

    /// <summary>
    /// Reads the number at a zero-based index of the first line, whose numbers are separated by spaces; null if there
    /// is none.
    /// </summary>
    public long? ReadField(int index)
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        ReadOnlySpan<byte> unread = text[..Read(text)];
        for (int at = 0; ; at++)
        {
            unread = unread.TrimStart((byte)' ');
            if (!Utf8Parser.TryParse(unread, out long value, out int length))
            {
                return null;
            }

            if (at == index)
            {
                return value;
            }

            unread = unread[length..];
        }
    }

    /// <summary>
    /// Reads the integers of the line that begins with a name, as many as exist and fit. Returns their count, 0 if the
    /// first 512 bytes contain no such line.
    /// </summary>
    public int ReadLine(ReadOnlySpan<byte> name, Span<long> numbers)
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        ReadOnlySpan<byte> unread = text[..Read(text)];
        while (!unread.StartsWith(name))
        {
            int end = unread.IndexOf((byte)'\n');
            if (end < 0)
            {
                return 0;
            }

            unread = unread[(end + 1)..];
        }

        unread = unread[name.Length..];
        for (int count = 0; count < numbers.Length; count++)
        {
            unread = unread.TrimStart((byte)' ');
            if (!Utf8Parser.TryParse(unread, out numbers[count], out int length))
            {
                return count;
            }

            unread = unread[length..];
        }

        return numbers.Length;
    }

    /// <summary>
    /// Reads the text of the file without surrounding white space and zero bytes; null if there is none.
    /// </summary>
    public string? ReadText()
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        ReadOnlySpan<byte> trimmed = text[..Read(text)].Trim(" \n\0"u8);
        return trimmed.IsEmpty ? null : Encoding.UTF8.GetString(trimmed);
    }

    /// <summary>Reads the text of a file once, and closes it.</summary>
    public static string? ReadText(IDisk disk, string path)
    {
        using var once = new KernelFile(disk, path);
        return once.ReadText();
    }

    /// <summary>Returns whether a file exists and is visible to this process.</summary>
    public static bool Exists(IDisk disk, string path)
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

    // Returns the number of bytes read; 0 if the file is missing or unreadable.
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
            // The sensor has no value now, or its driver was removed.
            _file?.Dispose();
            _file = null;
            return 0;
        }
    }
}
