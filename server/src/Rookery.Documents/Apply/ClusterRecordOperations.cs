using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>Stores and deletes cluster records: all records of a command, or none.</summary>
internal sealed class ClusterRecordOperations(ClusterRecords records)
{
    private readonly List<string> _changedKeys = [];

    /// <summary>
    /// Set only for exports, as <see cref="Applier.CommandSkipped"/>. Then a damaged record counts as missing, and this
    /// callback receives a message about it.
    /// </summary>
    public Action<string>? RecordSkipped { get; set; }

    /// <summary>Executes a command. Each record uses one etag, starting at <paramref name="firstEtag"/>.</summary>
    public CommandOutcome Apply(in EntryScope scope, long logIndex, ref CommandReader command, long firstEtag)
    {
        var results = new OperationResult[command.OperationCount];
        var mark = scope.Batch.Mark();
        int firstChange = _changedKeys.Count;
        for (int i = 0; command.TryReadRecord(out var record); i++)
        {
            if (Apply(scope, record, firstEtag + i, out results[i]) is { } refusal)
            {
                scope.Batch.RollBack(mark);
                _changedKeys.RemoveRange(firstChange, _changedKeys.Count - firstChange);
                return new CommandOutcome(refusal with { Operation = i });
            }
        }

        return new CommandOutcome(logIndex, scope.LogTicks, results);
    }

    /// <summary>Announces the changes of the entry, after readers can see the entry.</summary>
    public void Publish()
    {
        foreach (string key in _changedKeys)
        {
            records.Announce(key);
        }

        _changedKeys.Clear();
    }

    /// <summary>Discards the changes of an entry whose apply threw.</summary>
    public void DiscardChanges() => _changedKeys.Clear();

    private Rejection? Apply(in EntryScope scope, in ClusterRecordCommand record, long etag, out OperationResult result)
    {
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        var key = Key.WriteText(buffer, Key.NoDatabase, Table.ClusterRecords, record.Key);
        bool exists = TryFind(scope.Batch, key, out var previous);
        using (previous)
        {
            long version = exists ? previous.Sequence : ClusterRecord.Absent;
            if (record.HasExpectation && record.ExpectedVersion != version)
            {
                result = default;
                return Conflict(Encoding.ASCII.GetString(record.Key), record.ExpectedVersion, version);
            }

            if (record.IsDelete && !exists)
            {
                result = default;
                return null;
            }

            if (exists)
            {
                scope.Batch.ReleaseLarge(previous, etag);
            }
        }

        if (record.IsDelete)
        {
            scope.Batch.Delete(key, etag);
            result = new OperationResult { Status = OperationStatus.Deleted, Etag = etag };
        }
        else
        {
            scope.Batch.Put(key, etag, ClusterRecordValue.Head, record.Value);
            result = new OperationResult
            {
                Status = OperationStatus.Configured,
                Etag = etag,
                LastModifiedTicks = scope.LogTicks,
            };
        }

        _changedKeys.Add(Encoding.ASCII.GetString(record.Key));
        return null;
    }

    private bool TryFind(WriteBatch batch, ReadOnlySpan<byte> key, out Row row)
    {
        try
        {
            return batch.TryGet(key, out row);
        }
        catch (DamagedException damaged) when (RecordSkipped is not null)
        {
            RecordSkipped(
                $"Cluster record {Encoding.ASCII.GetString(Key.TextOf(key))} counts as missing. "
                    + $"{damaged.Damage.Sentence}"
            );
            row = default;
            return false;
        }
    }

    private static Rejection Conflict(string key, long expected, long actual) =>
        new(
            RejectionKind.ConcurrencyConflict,
            string.Create(
                CultureInfo.InvariantCulture,
                $"Cluster record {key} has version {actual}, and version {expected} was expected (0: it must "
                    + $"not exist). It was changed meanwhile; nothing was stored. Read it and try again."
            )
        )
        {
            DocumentId = key,
            Expected = expected.ToString(CultureInfo.InvariantCulture),
            Actual = actual.ToString(CultureInfo.InvariantCulture),
        };
}
