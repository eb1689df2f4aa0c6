using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>Takes what the maps of an index make of a document.</summary>
public interface IMappedRows
{
    /// <summary>Takes one row.</summary>
    /// <param name="row">A JSON object without whitespace between its tokens, valid during the call.</param>
    void Take(ReadOnlySpan<byte> row);
}

/// <summary>
/// Runs the maps of an index over documents. Work and memory for one document are bounded by
/// <see cref="ScriptLimits"/>. One thread at a time.
/// </summary>
public sealed class MapRunner : IDisposable
{
    /// <summary>Rows that a document may give, of all maps together.</summary>
    public const int MostRows = 2048;

    /// <summary>Bytes of JSON that these rows may take together.</summary>
    public const int MostBytes = 8 << 20;

    // Room for a row that is kept for the next one.
    private const int KeptBytes = 64 << 10;

    private readonly (byte[]? LowerCollection, CompiledMap Map, ScriptInterpreter Interpreter)[] _maps;
    private readonly int _mostRowBytes;
    private GrowableBytes _row = new();

    /// <summary>Takes the maps of a definition.</summary>
    /// <param name="maps">The maps.</param>
    /// <param name="documents">Where they find what they load.</param>
    /// <param name="limits">What a document may cost; the default ones where none are given.</param>
    public MapRunner(IReadOnlyList<CompiledMap> maps, IScriptDocuments? documents, ScriptLimits? limits = null)
    {
        _mostRowBytes = (limits ?? ScriptLimits.Default).OutputBytes;
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
    /// Lets a map fail whose row holds NaN or an infinity in a member that a reduce may read: it would add that, which
    /// is null in a row, as 0.
    /// </summary>
    /// <param name="members">These members; null for all.</param>
    internal void RefuseNonFinite(IReadOnlySet<string>? members)
    {
        foreach (var (_, _, interpreter) in _maps)
        {
            (interpreter.RefusesNonFinite, interpreter.FiniteMembers) = (true, members);
        }
    }

    /// <summary>Maps a document: gives the rows of each map that is of its collection.</summary>
    /// <exception cref="IndexEntryException">A map fails, or yields what is no object.</exception>
    public void Run(in QueriedDocument document, IMappedRows rows)
    {
        Span<byte> room = stackalloc byte[LowerNames.RoomBytes];
        var lowerCollection = LowerNames.Collection(document.View.Collection, room);
        var given = default(Given);
        foreach (var (collection, map, interpreter) in _maps)
        {
            if (
                (collection is null || lowerCollection.SequenceEqual(collection))
                && !TryRunPlainly(map.Plain, document, rows, ref given)
            )
            {
                // A large document before this one took the program along.
                interpreter.Load(map.Program);
                Run(interpreter, document, rows, ref given);
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

    private bool TryRunPlainly(PlainRow? plain, in QueriedDocument document, IMappedRows rows, ref Given given)
    {
        if (plain is null)
        {
            return false;
        }

        try
        {
            bool isWritten = plain.TryWrite(document.View.Body, _mostRowBytes, _row);
            if (isWritten)
            {
                Give(_row.Written, rows, ref given);
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

    private static void Run(
        ScriptInterpreter interpreter,
        in QueriedDocument document,
        IMappedRows rows,
        ref Given given
    )
    {
        try
        {
            interpreter.Begin();
            interpreter.AddDocument(document.View.ToScript());
            if (!interpreter.TryRun())
            {
                throw Failed(interpreter);
            }

            if (interpreter.IsResultArray)
            {
                for (int i = 0; i < interpreter.ResultCount; i++)
                {
                    Give(interpreter.TryWriteElement(i, out var row), row, interpreter, rows, ref given);
                }
            }
            else if (interpreter.HasResult)
            {
                Give(interpreter.TryWriteResult(out var row), row, interpreter, rows, ref given);
            }
        }
        finally
        {
            interpreter.Trim();
        }
    }

    private static void Give(
        bool isWritten,
        ReadOnlySpan<byte> row,
        ScriptInterpreter interpreter,
        IMappedRows rows,
        ref Given given
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

        Give(row, rows, ref given);
    }

    private static void Give(ReadOnlySpan<byte> row, IMappedRows rows, ref Given given)
    {
        given = new Given(given.Rows + 1, given.Bytes + row.Length);
        if (given.Rows > MostRows || given.Bytes > MostBytes)
        {
            throw new IndexEntryException(
                $"A document gives at most {MostRows} rows of {Amount.Bytes(MostBytes)} together to an index."
            );
        }

        rows.Take(row);
    }

    private static IndexEntryException Failed(ScriptInterpreter interpreter) =>
        new($"The map failed: {interpreter.Failure}.");

    /// <summary>What a document gave.</summary>
    private readonly record struct Given(int Rows, long Bytes);
}
