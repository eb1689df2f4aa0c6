using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>Receives the rows that the maps of an index return for a document.</summary>
public interface IMappedRows
{
    /// <summary>Receives one row.</summary>
    /// <param name="row">A JSON object without whitespace between tokens, valid during the call.</param>
    void Add(ReadOnlySpan<byte> row);
}

/// <summary>
/// Runs the maps of an index on documents. <see cref="ScriptLimits"/> bounds work and memory for one document. Not
/// thread-safe.
/// </summary>
public sealed class MapRunner : IDisposable
{
    /// <summary>Maximum rows that all maps together may return for one document.</summary>
    public const int MaxRows = 2048;

    /// <summary>Maximum bytes of JSON in these rows together.</summary>
    public const int MaxBytes = 8 << 20;

    // Maximum size of the row buffer that is kept for the next document, in bytes.
    private const int KeptBytes = 64 << 10;

    private readonly (byte[]? LowerCollection, CompiledMap Map, ScriptInterpreter Interpreter)[] _maps;
    private readonly ScriptLimits _limits;
    private readonly CounterInput _counter = new();
    private GrowableBytes _row = new();

    /// <summary>Makes a runner for the maps of a definition.</summary>
    /// <param name="maps">The maps.</param>
    /// <param name="documents">The documents that maps may load; null if they load none.</param>
    /// <param name="limits">The limits for one document; null for the default ones.</param>
    public MapRunner(IReadOnlyList<CompiledMap> maps, IScriptDocuments? documents, ScriptLimits? limits = null)
    {
        _limits = limits ?? ScriptLimits.Default;
        _maps = new (byte[]?, CompiledMap, ScriptInterpreter)[maps.Count];
        for (int i = 0; i < maps.Count; i++)
        {
            _maps[i] = (
                maps[i].Collection is { } collection ? LowerNames.Collection(collection) : null,
                maps[i],
                new ScriptInterpreter(limits) { Documents = documents }
            );
        }
    }

    /// <summary>
    /// Makes maps fail if a row has NaN or an infinity in a member that the reduce may read. The row would store null
    /// instead, and the reduce would add 0.
    /// </summary>
    /// <param name="members">The members that the reduce may read; null for all.</param>
    internal void RefuseNonFinite(IReadOnlySet<string>? members)
    {
        foreach (var (_, _, interpreter) in _maps)
        {
            (interpreter.RefusesNonFinite, interpreter.FiniteMembers) = (true, members);
        }
    }

    /// <summary>Runs the maps of the document's collection and passes their rows to <paramref name="rows"/>.</summary>
    /// <param name="document">The document.</param>
    /// <param name="counters">The snapshot from which counters are read; null only if no map is over counters.</param>
    /// <param name="rows">Receives the rows.</param>
    /// <exception cref="IndexEntryException">A map failed, or returned something other than objects.</exception>
    public void Run(in QueriedDocument document, DatabaseReader? counters, IMappedRows rows)
    {
        Span<byte> room = stackalloc byte[LowerNames.RoomBytes];
        var lowerCollection = LowerNames.Collection(document.View.Collection, room);
        var passed = default(PassedRows);
        foreach (var (collection, map, interpreter) in _maps)
        {
            if (collection is not null && !lowerCollection.SequenceEqual(collection))
            {
                continue;
            }

            if (map.Source.IsOfCounters)
            {
                Invariant.Holds(counters is not null, "maps over counters have a snapshot to read counters from");
                RunForCounters(map, interpreter, document.View, counters.Value, rows, ref passed);
            }
            else if (!TryRunPlainly(map.Plain, document.View.Body, rows, ref passed))
            {
                Begin(map, interpreter);
                interpreter.AddDocument(document.View.ToScript());
                Run(map, interpreter, rows, ref passed);
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var (_, _, interpreter) in _maps)
        {
            interpreter.Dispose();
        }
    }

    // All runs for one document together may take as many steps as a single run.
    private void RunForCounters(
        CompiledMap map,
        ScriptInterpreter interpreter,
        in DocumentView document,
        in DatabaseReader reader,
        IMappedRows rows,
        ref PassedRows passed
    )
    {
        if (document.CounterNames.IsEmpty)
        {
            return;
        }

        long steps = 0;
        var names = new CounterNames(document.CounterNames);
        while (names.MoveNext())
        {
            if (!map.Concerns(names) || reader.ReadCounter(document, names) is not { } value)
            {
                continue;
            }

            var counter = _counter.Write(document.Id, names.Name, value);
            if (!TryRunPlainly(map.Plain, counter[1..^1], rows, ref passed))
            {
                interpreter.StepsLeft = Math.Max(0, _limits.MaxSteps - steps);
                Begin(map, interpreter);
                interpreter.AddJson(counter);
                Run(map, interpreter, rows, ref passed);
                steps += interpreter.Steps;
            }
        }
    }

    // The program is loaded again, because trimming after a large document may have released it.
    private static void Begin(CompiledMap map, ScriptInterpreter interpreter)
    {
        interpreter.Load(map.Program);
        interpreter.Begin();
    }

    private bool TryRunPlainly(PlainRow? plain, ReadOnlySpan<byte> members, IMappedRows rows, ref PassedRows passed)
    {
        if (plain is null)
        {
            return false;
        }

        try
        {
            bool isWritten = plain.TryWrite(members, _limits.OutputBytes, _row);
            if (isWritten)
            {
                PassRow(_row.Written, rows, ref passed);
            }

            return isWritten;
        }
        finally
        {
            if (_row.Capacity > KeptBytes)
            {
                _row = new GrowableBytes();
            }
        }
    }

    private static void Run(CompiledMap map, ScriptInterpreter interpreter, IMappedRows rows, ref PassedRows passed)
    {
        try
        {
            if (!interpreter.TryRun())
            {
                throw Failed(interpreter);
            }

            if (interpreter.IsResultArray)
            {
                for (int i = 0; i < interpreter.ResultCount; i++)
                {
                    PassRow(interpreter.TryWriteElement(i, out var row), row, map, interpreter, rows, ref passed);
                }
            }
            else if (interpreter.HasResult)
            {
                PassRow(interpreter.TryWriteResult(out var row), row, map, interpreter, rows, ref passed);
            }
        }
        finally
        {
            interpreter.Trim();
        }
    }

    private static void PassRow(
        bool isWritten,
        ReadOnlySpan<byte> row,
        CompiledMap map,
        ScriptInterpreter interpreter,
        IMappedRows rows,
        ref PassedRows passed
    )
    {
        if (!isWritten)
        {
            throw Failed(interpreter);
        }

        if (row.IsEmpty)
        {
            return;
        }

        if (row[0] != (byte)'{')
        {
            throw new IndexEntryException(
                "A map returns objects, arrays of objects, or nothing; here it returned another value."
            );
        }

        if (map.Added?.FindIn(row) is { } added)
        {
            throw new IndexEntryException(
                $"The map adds the member '{added}' to a row, but the fields of an index must be known before "
                    + $"documents are indexed: write it in the object, {{ {added}: … }}."
            );
        }

        PassRow(row, rows, ref passed);
    }

    private static void PassRow(ReadOnlySpan<byte> row, IMappedRows rows, ref PassedRows passed)
    {
        passed = new PassedRows(passed.Rows + 1, passed.Bytes + row.Length);
        if (passed.Rows > MaxRows || passed.Bytes > MaxBytes)
        {
            throw new IndexEntryException(
                $"A document gives at most {MaxRows} rows of {Amount.Bytes(MaxBytes)} together to an index."
            );
        }

        rows.Add(row);
    }

    private static IndexEntryException Failed(ScriptInterpreter interpreter) =>
        new($"The map failed: {interpreter.Failure}.");

    /// <summary>Number of rows and bytes that a document was mapped to so far.</summary>
    private readonly record struct PassedRows(int Rows, long Bytes);
}
