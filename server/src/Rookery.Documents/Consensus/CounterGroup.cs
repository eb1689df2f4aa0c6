using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Reads ahead the rows that apply will need for a group: adjacent operations of a request on the counters of one
/// document. Reads the document once for all operations: the part before its body, or all of it if an operation creates
/// or deletes a counter, because apply then rewrites the document.
/// </summary>
/// <param name="snapshot">The snapshot.</param>
/// <param name="database">The database's number.</param>
internal struct CounterGroup(Snapshot snapshot, uint database)
{
    private byte[] _documentKey = []; // allocated by the first group, because most commands have no counters
    private byte[] _lowerName = [];
    private int _documentKeyLength;
    private long _since; // rows with a lower sequence belong to a deleted document with this id
    private bool _changesNames;

    private readonly ReadOnlySpan<byte> DocumentKey => _documentKey.AsSpan(0, _documentKeyLength);

    /// <summary>Begins a group: reads the part of the document before its body.</summary>
    public void Begin(ReadOnlySpan<byte> lowerId)
    {
        if (_documentKey.Length == 0)
        {
            _documentKey = new byte[Key.MaxBytes];
            _lowerName = new byte[CounterName.MaxBytes];
        }

        _documentKeyLength = Key.WriteText(_documentKey, database, Table.Documents, lowerId).Length;
        _changesNames = false;
        _since = 0;
        if (snapshot.TryGet(DocumentKey, out var row))
        {
            using var document = new Databases.Document(row);
            _since = document.Head.Counters.Since;
        }
    }

    /// <summary>
    /// Reads the counter of an operation. At the end of a group, reads the rest of the document, and what apply needs
    /// to store it, if apply rewrites it.
    /// </summary>
    public void Load(in Operation operation, ref ChangeCheck changes)
    {
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var lowerName = _lowerName.AsSpan(0, operation.Counter.WriteLowerName(_lowerName));
        var counterKey = Key.WriteCounter(key, database, Key.TextOf(DocumentKey), lowerName);
        bool exists = false;
        if (snapshot.TryGet(counterKey, out var row))
        {
            exists = DocumentCounters.Owns(_since, row.Sequence);
            row.Dispose();
        }

        _changesNames |=
            operation.Kind != OperationKind.CounterGet && exists == (operation.Kind == OperationKind.CounterDelete);
        if (operation.EndsGroup && _changesNames && snapshot.TryGet(DocumentKey, out var document))
        {
            PreviousVersions.Check(document, isWhole: true);
            changes.RunForStore(Key.TextOf(DocumentKey));
        }
    }
}
