using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Patching;

/// <summary>
/// Runs the script of a patch that loads or stores other documents, before its command is queued. The run stores
/// nothing. It reads the rows that apply will need, so that damage refuses the command. Other writes may be applied
/// before the command, and then apply reads other rows. So the command is also refused while documents of the database
/// are known to be damaged.
/// </summary>
internal static class PatchRehearsal
{
    /// <summary>Reads the rows.</summary>
    /// <param name="snapshot">The rows.</param>
    /// <param name="database">The database.</param>
    /// <param name="operation">The patch.</param>
    /// <param name="changes">Reads the rows that apply needs besides the documents.</param>
    /// <param name="copiedBytes">
    /// Bytes that the patches of the command copied so far. Beyond the budget of a command nothing is run, because
    /// apply refuses the command.
    /// </param>
    /// <exception cref="DamagedException">A row is damaged, so the command could not be applied.</exception>
    public static void Run(
        in Snapshot snapshot,
        uint database,
        scoped in Operation operation,
        ref ChangeCheck changes,
        ref long copiedBytes
    )
    {
        if (copiedBytes > PatchBudget.CopiedBytesPerCommand)
        {
            return;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        snapshot.ThrowIfDamaged(
            Key.WritePrefix(from, database, Table.Documents),
            Key.WritePrefix(to, database, Table.Documents + 1)
        );
        var source = new SnapshotSource(snapshot, database);
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        lowerId = lowerId[..operation.Id.WriteLowerName(lowerId)];
        using var evaluator = new PatchEvaluator();
        using var document = source.Find(lowerId);
        evaluator.LogTicks = changes.NowTicks; // scripts may form ids from the time
        evaluator.CopiedBytesLeft = PatchBudget.CopiedBytesPerCommand - copiedBytes;
        evaluator.BeginWrites(source, lowerId, operation.Patch.ReservedEtags);
        _ = document.Exists
            ? evaluator.Apply(operation.Patch, document.View)
            : evaluator.ApplyToMissing(operation.Patch);
        copiedBytes += evaluator.CopiedBytes + document.Length;
        for (int index = 0; index < evaluator.Writes.Count; index++)
        {
            var write = evaluator.Writes[index];
            if (!IsChecked(evaluator.Writes, index))
            {
                CheckReplaced(snapshot, database, write);
            }

            Check(source, snapshot, database, write, ref changes);
        }
    }

    /// <summary>Whether an earlier write has already read as much of the document as a write needs.</summary>
    private static bool IsChecked(PatchWrites writes, int index)
    {
        var write = writes[index];
        for (int i = 0; i < index; i++)
        {
            var earlier = writes[i];
            if ((earlier.IsOfCounter || !write.IsOfCounter) && earlier.LowerId.SequenceEqual(write.LowerId))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Reads the present version of a document. It is stored again as a whole if it gets or loses a counter.
    /// </summary>
    private static void CheckReplaced(in Snapshot snapshot, uint database, scoped in PatchWrite write)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (snapshot.TryLoadAhead(Key.WriteText(key, database, Table.Documents, write.LowerId), out var row))
        {
            PreviousVersions.Check(row, isWhole: write.IsOfCounter);
        }
    }

    /// <summary>
    /// Reads the rows that apply will need to replace or delete a document, or to change one of its counters.
    /// </summary>
    private static void Check(
        SnapshotSource source,
        in Snapshot snapshot,
        uint database,
        scoped in PatchWrite write,
        ref ChangeCheck changes
    )
    {
        if (write.IsOfCounter)
        {
            source.ReadCounter(write.LowerId, write.LowerCounter);
            changes.RunForStore(write.LowerId);
        }
        else if (write.IsDelete)
        {
            changes.RunForDelete(write.LowerId);
            PreviousVersions.CheckGuard(snapshot, database, write.LowerId);
        }
        else
        {
            var operation = new Operation
            {
                Kind = OperationKind.Put,
                Id = new CommandId(CommandIdKind.Literal, write.Id, write.LowerId),
                Collection = write.Collection,
            };
            changes.Run(write.LowerId, operation);
        }
    }

    private sealed class SnapshotSource(Snapshot snapshot, uint database) : IPatchSource
    {
        private readonly Dictionary<string, long> _identities = new(StringComparer.Ordinal);

        public Document Find(ReadOnlySpan<byte> lowerId)
        {
            Span<byte> key = stackalloc byte[Key.MaxBytes];
            // Not TryLoadAhead, which finds nothing that is in a memtable.
            if (!snapshot.TryGet(Key.WriteText(key, database, Table.Documents, lowerId), out var row))
            {
                return default;
            }

            if (!row.IsLarge && row.Value.IsEmpty)
            {
                row.Dispose(); // a deleted document
                return default;
            }

            return new Document(row);
        }

        public long LastIdentity(ReadOnlySpan<byte> lowerName)
        {
            if (_identities.TryGetValue(Encoding.UTF8.GetString(lowerName), out long last))
            {
                return last;
            }

            Span<byte> key = stackalloc byte[Key.MaxBytes];
            if (!snapshot.TryGet(IdentityOperations.RowOf(key, database, lowerName), out var row))
            {
                return 0;
            }

            using (row)
            {
                return BinaryPrimitives.ReadInt64LittleEndian(row.Value);
            }
        }

        // Remembers the number, as apply does. Otherwise a second id of the same identity would get the same number.
        public void SetIdentity(ReadOnlySpan<byte> lowerName, long value) =>
            _identities[Encoding.UTF8.GetString(lowerName)] = value;

        public long? ReadCounter(ReadOnlySpan<byte> lowerId, ReadOnlySpan<byte> lowerName)
        {
            using var document = Find(lowerId);
            long since = document.Exists ? document.Head.Counters.Since : 0;
            Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
            if (since == 0 || !snapshot.TryGet(Key.WriteCounter(key, database, lowerId, lowerName), out var row))
            {
                return null;
            }

            using (row)
            {
                return DocumentCounters.Owns(since, row.Sequence) ? CounterValue.Read(row.Value) : null;
            }
        }
    }
}
