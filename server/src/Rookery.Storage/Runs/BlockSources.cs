using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Source of a cursor's blocks. It holds one block at a time.</summary>
internal interface IBlockSource : IDisposable
{
    /// <summary>Loads a block and releases the previous one. Returns false if the block is damaged.</summary>
    bool TryLoad(int block, out BlockView view, out RunDamage? damage);
}

/// <summary>Reads blocks through the cache, for cursors that serve clients.</summary>
internal sealed class CachedBlocks(RunReader run, BlockCache cache) : IBlockSource
{
    private CachedBlock? _pinned;

    public bool TryLoad(int block, out BlockView view, out RunDamage? damage)
    {
        Dispose();
        _pinned = cache.Pin(run, block, isPointRead: false, out damage);
        view = _pinned is null ? default : _pinned.View;
        return _pinned is not null;
    }

    public void Dispose()
    {
        _pinned?.Unpin();
        _pinned = null;
    }
}

/// <summary>
/// Reads blocks ahead into private memory, for merges and backups, which read every block once and must not disturb the
/// cache.
/// </summary>
internal sealed unsafe class SequentialBlocks(RunReader run, IoKind kind) : IBlockSource
{
    private const int WindowBytes = 256 * 1024;
    private const int UnpackedBytes = 64 * 1024; // enough for most blocks

    private readonly NativeRegion _window = new(WindowBytes);
    private NativeRegion? _unpacked; // mapped later: if the system refuses it, the owner can release the window
    private long _windowStart;
    private int _windowLength;

    public bool TryLoad(int block, out BlockView view, out RunDamage? damage)
    {
        view = default;
        var sealedBlock = default(SealedBlock);
        string? error = Read(block, out var bytes);
        error ??= SealedBlock.Open(bytes, run.FileId, run.Index.Offset(block), out sealedBlock);
        if (error is null)
        {
            if (_unpacked is null || _unpacked.Bytes < sealedBlock.MemoryBytes)
            {
                _unpacked?.Dispose();
                _unpacked = new NativeRegion(Math.Max(sealedBlock.MemoryBytes, UnpackedBytes));
            }

            error = sealedBlock.TryUnpack(_unpacked.Address) ? null : SealedBlock.Malformed;
            view = new BlockView(_unpacked.Address, sealedBlock.RawLength, sealedBlock.Rows);
        }

        damage = error is null ? null : run.DamageOf(block, error);
        return error is null;
    }

    public void Dispose()
    {
        _window.Dispose();
        _unpacked?.Dispose();
    }

    private string? Read(int block, out ReadOnlySpan<byte> bytes)
    {
        bytes = default;
        long offset = run.Index.Offset(block);
        int length = run.Index.BytesOnDisk(block);
        if (offset < _windowStart || offset + length > _windowStart + _windowLength)
        {
            int ahead = (int)Math.Min(WindowBytes, run.Index.Offset(run.Index.Blocks) - offset);
            long begun = run.Io.Begin();
            _windowLength = 0;
            if (run.ReadExactly(offset, _window.SpanOf(offset: 0, ahead)) is { } error)
            {
                // A later block of the window may be the unreadable one.
                ahead = length;
                error = run.ReadExactly(offset, _window.SpanOf(offset: 0, ahead));
                if (error is not null)
                {
                    return error;
                }
            }

            run.Io.Record(kind, begun, ahead);
            _windowStart = offset;
            _windowLength = ahead;
        }

        bytes = _window.SpanOf((int)(offset - _windowStart), length);
        return null;
    }
}
