using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// The bytes of a segment by address. Each page's checksum is verified whenever the page is read from disk.
/// </summary>
public abstract class SegmentPages
{
    /// <summary>Returns the page with this number.</summary>
    /// <exception cref="SegmentDamagedException">The page is damaged or unreadable.</exception>
    public abstract byte[] Page(int number);

    /// <summary>Returns the page of an address, and the address's offset in it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte[] PageOf(long address, out int offset)
    {
        offset = (int)(address & (SegmentFormat.PageBytes - 1));
        long number = address >> SegmentFormat.PageShift;
        return number is >= 0 and <= int.MaxValue ? Page((int)number) : throw SegmentFormat.Malformed();
    }

    /// <summary>
    /// Reads bytes that may cross pages. Returns a span of the page if they do not, else a copy in
    /// <paramref name="scratch"/>.
    /// </summary>
    public ReadOnlySpan<byte> Read(long address, int length, ref byte[] scratch)
    {
        var page = PageOf(address, out int offset);
        if (length <= page.Length - offset)
        {
            return page.AsSpan(offset, length);
        }

        if (length < 0 || address + length > Length)
        {
            throw SegmentFormat.Malformed();
        }

        if (scratch.Length < length)
        {
            const int MaxGrownBytes = 1 << 20;
            scratch = new byte[Math.Max(length, Math.Min(2 * scratch.Length, MaxGrownBytes))];
        }

        int copied = 0;
        while (copied < length)
        {
            page = PageOf(address + copied, out offset);
            int part = Math.Min(length - copied, page.Length - offset);
            page.AsSpan(offset, part).CopyTo(scratch.AsSpan(copied));
            copied += part;
        }

        return scratch.AsSpan(0, length);
    }

    /// <summary>Total content bytes of all pages.</summary>
    public abstract long Length { get; }
}

/// <summary>Reads pages of an open file through the cache.</summary>
internal sealed class SegmentFile : SegmentPages, IDisposable
{
    private readonly IDiskFile _file;
    private readonly long _fileId;
    private readonly SegmentCache _cache;
    private readonly IIoRecorder _io;
    private readonly CachedPage?[] _slots;
    private readonly long _fileBytes;
    private int _chargedBytes;

    internal SegmentFile(IDiskFile file, long fileId, SegmentCache cache, IIoRecorder io)
    {
        _file = file;
        _fileId = fileId;
        _cache = cache;
        _io = io;
        Sorted = new SortedEntries(cache);
        _fileBytes = file.Length;
        long pages = (_fileBytes + SegmentFormat.StoredPageBytes - 1) / SegmentFormat.StoredPageBytes;
        if (pages > int.MaxValue)
        {
            throw new SegmentDamagedException(file.Path, "it is too long");
        }

        _slots = new CachedPage?[pages];
    }

    /// <summary>Entries of terms in the order of other fields.</summary>
    public SortedEntries Sorted { get; }

    /// <summary>The file's path.</summary>
    public string Path => _file.Path;

    /// <summary>Number of pages.</summary>
    public int Count => _slots.Length;

    /// <summary>The file's length in bytes.</summary>
    public long FileBytes => _fileBytes;

    /// <inheritdoc/>
    public override long Length => _fileBytes - ((long)sizeof(uint) * _slots.Length);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override byte[] Page(int number)
    {
        if ((uint)number < (uint)_slots.Length && Volatile.Read(ref _slots[number]) is { } page)
        {
            if (!page.WasRead)
            {
                page.WasRead = true;
            }

            return page.Bytes;
        }

        return ReadAndKeep(number);
    }

    /// <summary>Returns a page from the cache or from disk, without caching it, for reading a whole segment.</summary>
    public byte[] PageOnce(int number) =>
        (uint)number < (uint)_slots.Length && Volatile.Read(ref _slots[number]) is { } page
            ? page.Bytes
            : ReadFromDisk(number);

    /// <summary>Returns the exception for damage of this file.</summary>
    public SegmentDamagedException Damage(string reason) => new(_file.Path, reason);

    /// <summary>Charges the objects that describe the segment, until the file is closed.</summary>
    public void Charge(int bytes)
    {
        _chargedBytes = bytes + (_slots.Length * IntPtr.Size);
        _cache.AddSegment(_chargedBytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _cache.Remove(_slots);
        _cache.RemoveSegment(_chargedBytes);
        Sorted.Clear();
        _file.Dispose();
    }

    private byte[] ReadAndKeep(int number)
    {
        byte[] bytes = ReadFromDisk(number);
        _cache.Add(new CachedPage(_slots, number, bytes));
        return bytes;
    }

    private byte[] ReadFromDisk(int number)
    {
        if ((uint)number >= (uint)_slots.Length)
        {
            throw Damage("it refers to bytes after its end");
        }

        long offset = (long)number * SegmentFormat.StoredPageBytes;
        int length = (int)Math.Min(SegmentFormat.StoredPageBytes, _fileBytes - offset) - sizeof(uint);
        if (length <= 0)
        {
            throw Damage("its last page is incomplete");
        }

        Span<byte> stored = stackalloc byte[SegmentFormat.StoredPageBytes];
        stored = stored[..(length + sizeof(uint))];
        long begun = _io.Begin();
        int read;
        try
        {
            read = _file.Read(stored, offset);
        }
        catch (DiskException unreadable)
        {
            // A page that the device cannot read counts as damaged, like a page whose checksum does not match.
            throw Damage(
                $"the page at byte {offset} cannot be read, because {DiskException.Describe(unreadable.Error)}"
            );
        }

        _io.Record(IoKind.Read, begun, read);
        if (
            read < stored.Length
            || BinaryPrimitives.ReadUInt32LittleEndian(stored[length..])
                != SegmentFormat.ChecksumOf(_fileId, number, stored[..length])
        )
        {
            throw Damage($"the checksum of the page at byte {offset} does not match");
        }

        return stored[..length].ToArray();
    }
}

/// <summary>
/// Reads pages of a whole segment without evicting others from the cache. Keeps the last few pages. Not thread-safe.
/// </summary>
internal sealed class UncachedPages(SegmentFile file) : SegmentPages
{
    private const int KeptPages = 16;

    private readonly byte[]?[] _pages = new byte[KeptPages][];
    private readonly int[] _numbers = new int[KeptPages];

    /// <summary>Bytes of the pages read.</summary>
    public long ReadBytes { get; private set; }

    /// <inheritdoc/>
    public override long Length => file.Length;

    /// <inheritdoc/>
    public override byte[] Page(int number)
    {
        int slot = number & (KeptPages - 1);
        if (_pages[slot] is { } kept && _numbers[slot] == number)
        {
            return kept;
        }

        byte[] page = file.PageOnce(number);
        _pages[slot] = page;
        _numbers[slot] = number;
        ReadBytes += page.Length;
        return page;
    }
}
