using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// The way of a segment's bytes to disk: from the first to the last, in writes of 16 pages, synced each 512 KiB so that a commit's sync never waits behind more. Every page gets its
/// checksum here. Disposing it unfinished closes and deletes the file.
/// </summary>
internal sealed class SegmentOutput : IDisposable
{
    private const int PagesPerWrite = 16;
    private const int WritesPerSync = 2;

    private readonly IDisk disk;
    private readonly IDiskFile file;
    private readonly long fileId;
    private readonly IIoRecorder io;
    private PooledMemory buffer = PooledMemory.Rent(PagesPerWrite * SegmentFormat.StoredPageBytes);
    private long pagesWritten;
    private int pagesBuffered;
    private int inPage;
    private int unsyncedWrites;
    private bool finished;

    public SegmentOutput(IDisk disk, string path, long fileId, IIoRecorder io)
    {
        this.disk = disk;
        this.fileId = fileId;
        this.io = io;
        file = disk.Open(path, DiskOpen.CreateNew);
        Span<byte> header = stackalloc byte[SegmentFormat.HeaderBytes];
        SegmentFormat.WriteHeader(header, fileId);
        Write(header);
    }

    /// <summary>The address of the next byte.</summary>
    public long Position => ((pagesWritten + pagesBuffered) << SegmentFormat.PageShift) + inPage;

    /// <summary>Bytes handed to the disk.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Writes bytes that are one unit: all of them in one page.</summary>
    /// <returns>Their address.</returns>
    public long WriteUnit(ReadOnlySpan<byte> unit)
    {
        Invariant.Holds(unit.Length <= SegmentFormat.PageBytes, "a unit fits a page");
        int left = SegmentFormat.PageBytes - inPage;
        if (unit.Length > left)
        {
            Page.Slice(inPage, left).Clear();
            inPage += left;
            ClosePage();
        }

        return Write(unit);
    }

    /// <summary>Writes bytes of any length, across pages.</summary>
    /// <returns>Their address.</returns>
    public long Write(ReadOnlySpan<byte> data)
    {
        long address = Position;
        while (!data.IsEmpty)
        {
            int part = Math.Min(data.Length, SegmentFormat.PageBytes - inPage);
            data[..part].CopyTo(Page[inPage..]);
            inPage += part;
            data = data[part..];
            if (inPage == SegmentFormat.PageBytes)
            {
                ClosePage();
            }
        }

        return address;
    }

    /// <summary>Writes what is buffered and syncs. The name is durable once the caller has synced the directory.</summary>
    /// <returns>The file's length in bytes.</returns>
    public long Finish()
    {
        if (inPage > 0)
        {
            ClosePage();
        }

        WriteOut();
        Sync();
        finished = true;
        return WrittenBytes;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        file.Dispose();
        buffer.Return();
        if (!finished)
        {
            finished = true;
            try
            {
                disk.Delete(file.Path);
            }
            catch (DiskException)
            {
                // The failure that left it unfinished is already on its way up; a file that no manifest names is removed at the next start.
            }
        }
    }

    private Span<byte> Page => buffer.Span.Slice(PageStart, SegmentFormat.StoredPageBytes);

    private int PageStart => pagesBuffered * SegmentFormat.StoredPageBytes;

    private int lastPageBytes;

    private void ClosePage()
    {
        var page = Page;
        BinaryPrimitives.WriteUInt32LittleEndian(page[inPage..], SegmentFormat.ChecksumOf(fileId, pagesWritten + pagesBuffered, page[..inPage]));
        lastPageBytes = inPage + sizeof(uint);
        pagesBuffered++;
        inPage = 0;
        if (pagesBuffered == PagesPerWrite)
        {
            WriteOut();
            if (++unsyncedWrites == WritesPerSync)
            {
                Sync();
            }
        }
    }

    private void WriteOut()
    {
        if (pagesBuffered == 0)
        {
            return;
        }

        int bytes = ((pagesBuffered - 1) * SegmentFormat.StoredPageBytes) + lastPageBytes;
        long begun = io.Begin();
        file.Write(buffer.Span[..bytes], WrittenBytes);
        io.Record(IoKind.Index, begun, bytes);
        WrittenBytes += bytes;
        pagesWritten += pagesBuffered;
        pagesBuffered = 0;
    }

    private void Sync()
    {
        long begun = io.Begin();
        file.Sync();
        io.Record(IoKind.Index, begun, 0);
        unsyncedWrites = 0;
    }
}
