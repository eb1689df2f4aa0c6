using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Scripting.Running;

namespace Rookery.Queries.Answering;

/// <summary>
/// Computes results by the script of a selection. Loads documents from the snapshot of the current result. The script
/// counts against the query's time limit. Not thread-safe.
/// </summary>
internal sealed class ScriptedResults : IScriptDocuments, IQueryAnswer, IDisposable
{
    // A script can load documents, so a small document could produce a result of any size.
    private const int MaxResultBytes = 4 << 20;

    private static readonly ScriptLimits Limits = new() { OutputBytes = MaxResultBytes };

    private readonly SelectionScript _script;
    private readonly QueryMemory _memory;
    private readonly QueryTimeSlices _slices;
    private readonly byte[] _historyId;
    private readonly ScriptInterpreter _interpreter = new(Limits);
    private QueryWalk? _walk;
    private AnswerReader? _reader;

    // Memory reserved by the current run.
    private long _heldBytes;

    // Whether a reservation of the current run failed, and if so, whether it failed because of other queries.
    private bool _lacksMemory;
    private bool _othersHoldMemory;

    /// <summary>Creates the results of one answer.</summary>
    /// <param name="script">The script.</param>
    /// <param name="memory">The memory of the query. A run of the script that needs much memory reserves from
    /// it.</param>
    /// <param name="slices">Limits the query's working time.</param>
    /// <param name="historyId">The database's history id, for change vectors.</param>
    public ScriptedResults(SelectionScript script, QueryMemory memory, QueryTimeSlices slices, byte[] historyId)
    {
        _script = script;
        _memory = memory;
        _slices = slices;
        _historyId = historyId;
        _interpreter.Documents = this;
        _interpreter.Answer = this;
        _interpreter.MemorySource = TryReserve;
    }

    /// <summary>The ids of documents that the script added to the answer for the last result.</summary>
    public List<byte[]> IncludedIds { get; } = [];

    /// <summary>The keys of compare-exchange values that the script added to the answer for the last result.</summary>
    public List<byte[]> IncludedKeys { get; } = [];

    /// <summary>Runs the script on the current document and writes its result.</summary>
    /// <exception cref="QueryException">The script fails, or the query exceeds its time.</exception>
    public void Write(IResultBuffer output, QueryWalk walk)
    {
        _walk = walk;
        _slices.StartClock();
        try
        {
            Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
            PrepareRun();
            _interpreter.AddDocument(walk.View.ToScript(vector[..ChangeVector.Write(vector, walk.Etag, _historyId)]));
            Run(output, walk.Score);
        }
        finally
        {
            EndRun();
        }
    }

    /// <summary>Runs the script on a reduced row and writes its result.</summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="row">The members of the row, without braces.</param>
    /// <param name="score">The score of the row; null if the query does not score.</param>
    /// <param name="reader">Reads the documents that the script loads.</param>
    /// <exception cref="QueryException">The script fails, or the query exceeds its time.</exception>
    public void Write(IResultBuffer output, ReadOnlySpan<byte> row, double? score, AnswerReader reader)
    {
        _reader = reader;
        _slices.StartClock();
        try
        {
            PrepareRun();
            _interpreter.AddJson([(byte)'{', .. row, (byte)'}']);
            Run(output, score);
        }
        finally
        {
            EndRun();
        }
    }

    /// <inheritdoc/>
    public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        var reader = _walk?.Reader ?? _reader!.Current;
        if (!DocumentId.TryValidate(id, out _) || !reader.TryGetDocument(id, out var document))
        {
            return;
        }

        using (document)
        {
            if (document.Length > MemoryShare.BytesWithoutReservation && !TryReserve(document.Length))
            {
                throw RefuseMemory(
                    $"the document '{Encoding.UTF8.GetString(id)}', which it loads, needs more memory than is free"
                );
            }

            PassToScript(receiver, document);
        }
    }

    /// <inheritdoc/>
    public long? ReadCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name) =>
        DocumentId.TryValidate(id, out _) && CounterName.TryValidate(name, out _)
            ? (_walk?.Reader ?? _reader!.Current).ReadCounter(id, name, out _)
            : null;

    /// <inheritdoc/>
    public void IncludeDocument(ReadOnlySpan<byte> id) => Include(IncludedIds, id);

    /// <inheritdoc/>
    public void IncludeCompareExchange(ReadOnlySpan<byte> key) => Include(IncludedKeys, key);

    public void Dispose() => _interpreter.Dispose();

    // The interpreter bounds the number of included names.
    private static void Include(List<byte[]> included, ReadOnlySpan<byte> name)
    {
        if (name.Length is > 0 and <= JsonLimits.MaxIdBytes)
        {
            included.Add(name.ToArray());
        }
    }

    private void PrepareRun()
    {
        (_lacksMemory, _othersHoldMemory) = (false, false);
        IncludedIds.Clear();
        IncludedKeys.Clear();
        _interpreter.Load(_script.Program);
        _interpreter.Begin();
    }

    private void EndRun()
    {
        _walk = null;
        _interpreter.Trim();
        _memory.Release(_heldBytes);
        _heldBytes = 0;
        _slices.StopClock();
    }

    private void Run(IResultBuffer output, double? score)
    {
        _interpreter.AddJson(_script.Arguments.Span);
        if (!_interpreter.TryRun())
        {
            throw _lacksMemory
                ? RefuseMemory(_interpreter.Failure!)
                : Refuse(QueryFault.Invalid, _interpreter.Failure!);
        }

        if (_interpreter.HasResult && !_interpreter.IsResultObject)
        {
            throw Refuse(
                QueryFault.Invalid,
                _interpreter.IsResultArray ? "it yields an array, and a result is one object" : "it yields no object"
            );
        }

        output.Write("{"u8);
        if (_interpreter.HasResult)
        {
            WriteMembers(
                output,
                _interpreter.TryWriteResult(out var json)
                    ? json
                    : throw Refuse(QueryFault.TooCostly, _interpreter.Failure!)
            );
        }

        output.Write("\"@metadata\":{\"@projection\":true"u8);
        if (_walk is not null)
        {
            output.Write(",\"@id\":"u8);
            JsonText.WriteString(output, _walk.Head.Id);
        }

        if (score is { } computed)
        {
            output.Write(",\"@index-score\":"u8);
            CompiledQuery.WriteScore(computed, output);
        }

        output.Write("}}"u8);
        _slices.CheckLimits();
    }

    private void PassToScript(ScriptDocumentReceiver receiver, in Document document)
    {
        Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
        receiver(document.View.ToScript(vector[..ChangeVector.Write(vector, document.Etag, _historyId)]));
    }

    /// <summary>
    /// Writes the members of the result, each followed by a comma. Skips "@metadata", which the server writes.
    /// </summary>
    internal static void WriteMembers(IBufferWriter<byte> output, ReadOnlySpan<byte> json)
    {
        if (json.IndexOf("\"@metadata\":"u8) < 0)
        {
            output.Write(json[1..^1]);
            output.Write(json.Length == 2 ? ""u8 : ","u8);
            return;
        }

        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = JsonLimits.MaxDepth + 1 });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int start = (int)reader.TokenStartIndex;
            bool isMetadata = reader.ValueTextEquals("@metadata"u8);
            reader.Skip();
            if (!isMetadata)
            {
                output.Write(json[start..(int)reader.BytesConsumed]);
                output.Write(","u8);
            }
        }
    }

    private bool TryReserve(long bytes)
    {
        if (!_memory.TryReserve(bytes))
        {
            _lacksMemory = true;
            _othersHoldMemory = _memory.IsTakenByOthers(bytes);
            return false;
        }

        _heldBytes += bytes;
        return true;
    }

    private QueryException RefuseMemory(string reason) =>
        _othersHoldMemory ? new QueryException(QueryException.MemoryTaken) : Refuse(QueryFault.TooCostly, reason);

    private QueryException Refuse(QueryFault fault, string reason) =>
        new(
            fault,
            $"The selection of "
                + $"{(_walk is null ? "a row" : $"document '{Encoding.UTF8.GetString(_walk.Head.Id)}'")} failed: "
                + $"{reason}.",
            _script.Position
        );
}
