using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes the bytes of a segment to disk sequentially, 16 pages at a time. Adds a checksum to every page. Syncs every
/// 512 KiB, because a larger sync would delay the syncs of the journal. Disposal before <see cref="Finish"/> deletes
/// the file.
/// </summary>
internal sealed class SegmentOutput : IDisposable
{
    private const int PagesPerWrite = 16;
    private const int WritesPerSync = 2;

    private readonly IDisk _disk;
    private readonly IDiskFile _file;
    private readonly long _fileId;
    private readonly IIoRecorder _io;
    private PooledMemory _buffer = PooledMemory.Rent(PagesPerWrite * SegmentFormat.StoredPageBytes);
    private long _pagesWritten;
    private int _pagesBuffered;

    // Bytes written to the current page.
    private int _inPage;
    private int _unsyncedWrites;
    private bool _isFinished;

    public SegmentOutput(IDisk disk, string path, long fileId, IIoRecorder io)
    {
        _disk = disk;
        _fileId = fileId;
        _io = io;
        _file = disk.Open(path, DiskOpen.CreateNew);
        Span<byte> header = stackalloc byte[SegmentFormat.HeaderBytes];
        SegmentFormat.WriteHeader(header, fileId);
        Write(header);
    }

    /// <summary>The address of the next byte.</summary>
    public long Position => ((_pagesWritten + _pagesBuffered) << SegmentFormat.PageShift) + _inPage;

    /// <summary>Bytes written to the disk.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Writes a unit into one page.</summary>
    /// <returns>The address of the first byte.</returns>
    public long WriteUnit(ReadOnlySpan<byte> unit)
    {
        Invariant.Holds(unit.Length <= SegmentFormat.PageBytes, "a unit fits a page");
        int freeBytes = SegmentFormat.PageBytes - _inPage;
        if (unit.Length > freeBytes)
        {
            Page.Slice(_inPage, freeBytes).Clear();
            _inPage += freeBytes;
            ClosePage();
        }

        return Write(unit);
    }

    /// <summary>Writes bytes of any length, across pages.</summary>
    /// <returns>The address of the first byte.</returns>
    public long Write(ReadOnlySpan<byte> data)
    {
        long address = Position;
        while (!data.IsEmpty)
        {
            int part = Math.Min(data.Length, SegmentFormat.PageBytes - _inPage);
            data[..part].CopyTo(Page[_inPage..]);
            _inPage += part;
            data = data[part..];
            if (_inPage == SegmentFormat.PageBytes)
            {
                ClosePage();
            }
        }

        return address;
    }

    /// <summary>
    /// Writes what is buffered and syncs. The file's name is durable only when the caller has synced the directory.
    /// </summary>
    /// <returns>The file's length in bytes.</returns>
    public long Finish()
    {
        if (_inPage > 0)
        {
            ClosePage();
        }

        WriteOut();
        Sync();
        _isFinished = true;
        return WrittenBytes;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _file.Dispose();
        _buffer.Return();
        if (!_isFinished)
        {
            _isFinished = true;
            try
            {
                _disk.Delete(_file.Path);
            }
            catch (DiskException)
            {
                // The exception that interrupted the writing is already being thrown. The next start deletes a file
                // that no manifest names.
            }
        }
    }

    private Span<byte> Page => _buffer.Span.Slice(PageStart, SegmentFormat.StoredPageBytes);

    private int PageStart => _pagesBuffered * SegmentFormat.StoredPageBytes;

    // Length of the page closed last, with its checksum. Only the last page of the file is shorter than others.
    private int _lastPageBytes;

    private void ClosePage()
    {
        var page = Page;
        BinaryPrimitives.WriteUInt32LittleEndian(
            page[_inPage..],
            SegmentFormat.ChecksumOf(_fileId, _pagesWritten + _pagesBuffered, page[.._inPage])
        );
        _lastPageBytes = _inPage + sizeof(uint);
        _pagesBuffered++;
        _inPage = 0;
        if (_pagesBuffered == PagesPerWrite)
        {
            WriteOut();
            if (++_unsyncedWrites == WritesPerSync)
            {
                Sync();
            }
        }
    }

    private void WriteOut()
    {
        if (_pagesBuffered == 0)
        {
            return;
        }

        int bytes = ((_pagesBuffered - 1) * SegmentFormat.StoredPageBytes) + _lastPageBytes;
        long begun = _io.Begin();
        _file.Write(_buffer.Span[..bytes], WrittenBytes);
        _io.Record(IoKind.Index, begun, bytes);
        WrittenBytes += bytes;
        _pagesWritten += _pagesBuffered;
        _pagesBuffered = 0;
    }

    private void Sync()
    {
        long begun = _io.Begin();
        _file.Sync();
        _io.Record(IoKind.Index, begun, 0);
        _unsyncedWrites = 0;
    }
}
