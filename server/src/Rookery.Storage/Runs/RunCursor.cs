using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Iterates over the rows of one run, including tombstones. No allocation per row.</summary>
internal sealed unsafe class RunCursor : IRowCursor
{
    private readonly RunReader _run;
    private readonly IBlockSource _blocks;
    private byte[] _key = new byte[64];
    private int _prefixLength;
    private int _keyLength;
    private int _block = -1;
    private BlockView _view;
    private BlockRow _row;
    private int _rowNumber;
    private bool _isBackward;
    private bool _isOnRow;
    private bool _isDisposed;

    internal RunCursor(RunReader run, IBlockSource blocks)
    {
        run.Acquire();
        _run = run;
        _blocks = blocks;
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyLength);

    /// <inheritdoc/>
    public long Sequence => _row.Sequence;

    /// <inheritdoc/>
    public RowKind Kind => _row.Kind;

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Value => new(_row.ValueAddress, _row.ValueLength);

    /// <inheritdoc/>
    public RunDamage? Damage { get; private set; }

    /// <inheritdoc/>
    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _isBackward = false;
        int block = Math.Max(_run.Index.BlockOf(from), 0);
        return LoadBlock(block) && MoveTo(_view.LowerBound(from, out _));
    }

    /// <inheritdoc/>
    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _isBackward = true;
        bool fromEnd = toExclusive.IsEmpty;
        if (!LoadBlock(fromEnd ? _run.Index.Blocks - 1 : _run.Index.BlockOf(toExclusive)))
        {
            return false;
        }

        int rowsBefore = fromEnd ? _view.Rows : _view.LowerBound(toExclusive, out _);
        return MoveTo(rowsBefore - 1);
    }

    /// <inheritdoc/>
    public bool Move()
    {
        Invariant.Holds(_isOnRow, "a cursor moves on from a row");
        return MoveTo(_rowNumber + (_isBackward ? -1 : 1));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _isOnRow = false;
            _blocks.Dispose();
            _run.Release();
        }
    }

    /// <summary>
    /// Moves to a row of the current block, or to the nearest row of the next block in the cursor's direction.
    /// </summary>
    private bool MoveTo(int number)
    {
        if (number < 0)
        {
            if (!LoadBlock(_block - 1))
            {
                return false;
            }

            number = _view.Rows - 1;
        }
        else if (number >= _view.Rows)
        {
            if (!LoadBlock(_block + 1))
            {
                return false;
            }

            number = 0;
        }

        _rowNumber = number;
        _row = _view.Read(number);
        var suffix = _row.Suffix;
        _keyLength = _prefixLength + suffix.Length;
        if (_keyLength > _key.Length)
        {
            Array.Resize(ref _key, Math.Max(_keyLength, 2 * _key.Length));
        }

        suffix.CopyTo(_key.AsSpan(_prefixLength));
        _isOnRow = true;
        return true;
    }

    private bool LoadBlock(int block)
    {
        Invariant.Holds(!_isDisposed, "a disposed cursor is not used");
        _isOnRow = false;
        Damage = null;
        if (block < 0 || block >= _run.Index.Blocks)
        {
            return false;
        }

        if (block == _block)
        {
            return true;
        }

        if (!_blocks.TryLoad(block, out _view, out var damage))
        {
            _block = -1;
            Damage = damage;
            return false;
        }

        _block = block;
        _prefixLength = _view.Prefix.Length;
        if (_prefixLength > _key.Length)
        {
            _key = new byte[2 * _prefixLength];
        }

        _view.Prefix.CopyTo(_key);
        return true;
    }
}
