using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>Walks the rows of one run, tombstones included. No allocation per row.</summary>
internal sealed unsafe class RunCursor : IRowCursor
{
    private readonly RunReader run;
    private readonly IBlockSource blocks;
    private byte[] key = new byte[64];
    private int prefixLength;
    private int keyLength;
    private int block = -1;
    private BlockView view;
    private BlockRow row;
    private int rowNumber;
    private bool isBackward;
    private bool isOnRow;
    private bool isDisposed;

    internal RunCursor(RunReader run, IBlockSource blocks)
    {
        run.Acquire();
        this.run = run;
        this.blocks = blocks;
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Key => key.AsSpan(0, keyLength);

    /// <inheritdoc/>
    public long Sequence => row.Sequence;

    /// <inheritdoc/>
    public RowKind Kind => row.Kind;

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Value => new(row.ValueAddress, row.ValueLength);

    /// <inheritdoc/>
    public RunDamage? Damage { get; private set; }

    /// <inheritdoc/>
    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        isBackward = false;
        int wanted = Math.Max(run.Index.BlockOf(from), 0);
        return LoadBlock(wanted) && Settle(view.LowerBound(from, out _));
    }

    /// <inheritdoc/>
    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        isBackward = true;
        int wanted = toExclusive.IsEmpty ? run.Index.Blocks - 1 : run.Index.BlockOf(toExclusive);
        return LoadBlock(wanted) && Settle((toExclusive.IsEmpty ? view.Rows : view.LowerBound(toExclusive, out _)) - 1);
    }

    /// <inheritdoc/>
    public bool Move()
    {
        Invariant.Holds(isOnRow, "a cursor moves on from a row");
        return Settle(rowNumber + (isBackward ? -1 : 1));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!isDisposed)
        {
            isDisposed = true;
            isOnRow = false;
            blocks.Dispose();
            run.Release();
        }
    }

    /// <summary>Stands on a row of the current block, or on the nearest of the next one in the walk's direction.</summary>
    private bool Settle(int number)
    {
        if (number < 0)
        {
            if (!LoadBlock(block - 1))
            {
                return false;
            }

            number = view.Rows - 1;
        }
        else if (number >= view.Rows)
        {
            if (!LoadBlock(block + 1))
            {
                return false;
            }

            number = 0;
        }

        rowNumber = number;
        row = view.Read(number);
        var suffix = row.Suffix;
        keyLength = prefixLength + suffix.Length;
        if (keyLength > key.Length)
        {
            Array.Resize(ref key, Math.Max(keyLength, 2 * key.Length));
        }

        suffix.CopyTo(key.AsSpan(prefixLength));
        return isOnRow = true;
    }

    private bool LoadBlock(int wanted)
    {
        Invariant.Holds(!isDisposed, "a disposed cursor is not used");
        isOnRow = false;
        Damage = null;
        if (wanted < 0 || wanted >= run.Index.Blocks)
        {
            return false;
        }

        if (wanted == block)
        {
            return true;
        }

        if (!blocks.TryLoad(wanted, out view, out var damage))
        {
            block = -1;
            Damage = damage;
            return false;
        }

        block = wanted;
        prefixLength = view.Prefix.Length;
        if (prefixLength > key.Length)
        {
            key = new byte[2 * prefixLength];
        }

        view.Prefix.CopyTo(key);
        return true;
    }
}
