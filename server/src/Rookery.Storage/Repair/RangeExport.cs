using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Install;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Repair;

/// <summary>Writes the applied rows of a range into a run, for a node that lost them. Thread-safe.</summary>
internal sealed class RangeExport(EngineContext context)
{
    /// <summary>The file number in the checksums of every exported run.</summary>
    public const long FileId = 1;

    // Limit of the written bytes. Beyond it a full snapshot is faster, and less work for the sending node.
    private const long MaxBytes = 128L * 1024 * 1024;

    /// <summary>Writes the file, which must not exist.</summary>
    /// <exception cref="ReceivedStateException">The range has too many rows.</exception>
    /// <exception cref="DamagedException">A part of the range is damaged on this node too.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public RepairRows Write(string path, byte group, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        EngineState state = context.Published.Acquire();
        try
        {
            var options = new RunWriterOptions(
                context.Options.BlockBytes,
                HasFilter: false,
                SyncsRegularly: true,
                IoKind.Backup
            );
            using var writer = new RunWriter(context.Disk, path, FileId, options, context.Io);
            using IRowCursor rows = StateCursor.Open(state, state.VisibleBatch, from, toExclusive);
            bool hasRow = rows.SeekForward(from);
            while (hasRow && rows.Key.SequenceCompareTo(toExclusive) < 0)
            {
                bool isLive =
                    rows.Kind != RowKind.Tombstone && state.RangeTombstones.CoveringSequence(rows.Key) <= rows.Sequence;
                if (isLive && context.Sources.Tables.GroupOf(rows.Key[MemtableNode.KeyspaceBytes - 1]) == group)
                {
                    writer.Add(rows.Key, rows.Sequence, rows.Kind, rows.Value);
                    if (writer.EstimatedBytes > MaxBytes)
                    {
                        throw new ReceivedStateException(
                            $"The requested rows are larger than {Amount.Bytes(MaxBytes)}: fetch the whole state "
                                + "instead."
                        );
                    }
                }

                hasRow = rows.Move();
            }

            if (rows.Damage is { } damage)
            {
                throw new DamagedException(damage.ToEvent());
            }

            writer.Finish();
            return new RepairRows(path, state.Position);
        }
        finally
        {
            state.Release();
        }
    }
}
