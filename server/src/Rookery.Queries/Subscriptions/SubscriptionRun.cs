using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.Queries.Subscriptions;

/// <summary>
/// Evaluates the criteria of a subscription on documents one by one. Not thread-safe; releases its memory when it is
/// disposed.
/// </summary>
public sealed class SubscriptionRun : IScriptDocuments, IWorkLimits, IDisposable
{
    private const int MaxResultBytes = 4 << 20;

    private static readonly ScriptLimits Limits = new() { OutputBytes = MaxResultBytes };

    private readonly SubscriptionCriteria _criteria;
    private readonly QueryMemory _memory;
    private readonly byte[] _historyId;
    private readonly CancellationToken _ending;
    private readonly Dictionary<CompiledQuery, ScanRun> _runs = [];
    private ScriptInterpreter? _interpreter;
    private DatabaseReader _reader;
    private long _heldBytes;

    /// <summary>Creates an evaluation.</summary>
    /// <param name="criteria">The criteria.</param>
    /// <param name="memory">Reserves the memory of scripts.</param>
    /// <param name="historyId">The database's history id, for change vectors.</param>
    /// <param name="ending">Ends the work.</param>
    public SubscriptionRun(
        SubscriptionCriteria criteria,
        MemoryShare memory,
        string historyId,
        CancellationToken ending
    )
    {
        _criteria = criteria;
        _memory = new QueryMemory(memory);
        _historyId = Encoding.ASCII.GetBytes(historyId);
        _ending = ending;
    }

    /// <summary>
    /// Whether the last document needed memory that was not free but may be free later. The document is then not the
    /// cause of a failure.
    /// </summary>
    public bool LackedMemory { get; private set; }

    /// <summary>Returns whether the subscription selects a document.</summary>
    /// <param name="reader">The snapshot of the document, for scripts that load others.</param>
    /// <param name="view">The document.</param>
    /// <param name="etag">Its etag.</param>
    /// <exception cref="QueryException">A script fails on the document.</exception>
    public bool Matches(in DatabaseReader reader, in DocumentView view, long etag)
    {
        LackedMemory = false;
        if (ScheduledTimes.IsArchived(view.Metadata))
        {
            return false;
        }

        if (_criteria.Where is not { } where)
        {
            return true;
        }

        _reader = reader;
        return Matches(where, new QueriedDocument(view, etag, _historyId));
    }

    /// <summary>Writes what is sent of a document that is not sent whole.</summary>
    /// <inheritdoc cref="Matches(in DatabaseReader, in DocumentView, long)"/>
    public void WriteSelected(in DatabaseReader reader, in DocumentView view, long etag, IBufferWriter<byte> output)
    {
        _reader = reader;
        var document = new QueriedDocument(view, etag, _historyId);
        output.Write("{"u8);
        if (_criteria.Compiled.Script is { } script)
        {
            Run(script.Program, script.Arguments.Span, document, script.Position);
            try
            {
                if (!_interpreter!.HasResult || !_interpreter.IsResultObject)
                {
                    throw Refuse(document, "it yields no object", script.Position);
                }

                ScriptedResults.WriteMembers(
                    output,
                    _interpreter.TryWriteResult(out var json)
                        ? json
                        : throw Refuse(document, _interpreter.Failure!, script.Position)
                );
            }
            finally
            {
                EndRun();
            }
        }
        else
        {
            var members = new ArrayBufferWriter<byte>();
            _criteria.Compiled.WriteMembers(document, members, this);
            output.Write(members.WrittenSpan);
            output.Write(members.WrittenCount == 0 ? ""u8 : ","u8);
        }

        WriteMetadata(view, etag, output, isProjection: true);
        output.Write("}"u8);
    }

    /// <summary>Writes <c>"@metadata":{…}</c> with what identifies a document.</summary>
    public void WriteMetadata(in DocumentView view, long etag, IBufferWriter<byte> output, bool isProjection)
    {
        output.Write("\"@metadata\":{"u8);
        output.Write(isProjection ? "\"@projection\":true,"u8 : ""u8);
        output.Write("\"@collection\":"u8);
        JsonText.WriteString(output, view.Collection.IsEmpty ? "@empty"u8 : view.Collection);
        output.Write(",\"@change-vector\":\""u8);
        Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
        output.Write(vector[..ChangeVector.Write(vector, etag, _historyId)]);
        output.Write("\",\"@id\":"u8);
        JsonText.WriteString(output, view.Id);
        output.Write(",\"@last-modified\":\""u8);
        WireDate.Write(output.GetSpan(WireDate.Length), view.LastModifiedTicks);
        output.Advance(WireDate.Length);
        output.Write("\"}"u8);
    }

    /// <inheritdoc/>
    public void CheckLimits() => _ending.ThrowIfCancellationRequested();

    /// <inheritdoc/>
    public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        if (!DocumentId.TryValidate(id, out _) || !_reader.TryGetDocument(id, out var document))
        {
            return;
        }

        using (document)
        {
            if (document.Length <= MemoryShare.BytesWithoutReservation || TryReserve(document.Length))
            {
                Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
                receiver(document.View.ToScript(vector[..ChangeVector.Write(vector, document.Etag, _historyId)]));
            }
            else
            {
                throw new QueryException(
                    QueryFault.TooCostly,
                    $"The document '{Encoding.UTF8.GetString(id)}', which the script loads, needs more memory than is "
                        + "free."
                );
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var run in _runs.Values)
        {
            run.Dispose();
        }

        _interpreter?.Dispose();
        _memory.Release(_heldBytes);
        _heldBytes = 0;
    }

    private bool Matches(CriterionNode node, in QueriedDocument document)
    {
        switch (node)
        {
            case PlainCriterion plain:
                return RunOf(plain.Compiled).Matches(document);
            case ScriptCriterion script:
                Run(script.Program, "{}"u8, document, script.Position);
                bool holds = _interpreter!.HasResult;
                EndRun();
                return holds;
            case NotCriterion not:
                return !Matches(not.Inner, document);
            case AllCriterion all:
                foreach (var one in all.Nodes)
                {
                    if (!Matches(one, document))
                    {
                        return false;
                    }
                }

                return true;
            default:
                foreach (var one in ((AnyCriterion)node).Nodes)
                {
                    if (Matches(one, document))
                    {
                        return true;
                    }
                }

                return false;
        }
    }

    private ScanRun RunOf(CompiledQuery compiled)
    {
        if (!_runs.TryGetValue(compiled, out var run))
        {
            run = compiled.Start(_memory, this, needsTotal: false);
            _runs.Add(compiled, run);
        }

        return run;
    }

    private void Run(ScriptProgram program, ReadOnlySpan<byte> arguments, in QueriedDocument document, int position)
    {
        _interpreter ??= new ScriptInterpreter(Limits) { Documents = this, MemorySource = TryReserve };
        Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
        _interpreter.Load(program);
        _interpreter.Begin();
        _interpreter.AddDocument(
            document.View.ToScript(vector[..ChangeVector.Write(vector, document.Etag, _historyId)])
        );
        _interpreter.AddJson(arguments);
        if (!_interpreter.TryRun())
        {
            string failure = _interpreter.Failure!;
            EndRun();
            throw Refuse(document, failure, position);
        }
    }

    private void EndRun()
    {
        _interpreter!.Trim();
        _memory.Release(_heldBytes);
        _heldBytes = 0;
        CheckLimits();
    }

    private bool TryReserve(long bytes)
    {
        if (!_memory.TryReserve(bytes))
        {
            LackedMemory |= _heldBytes + bytes <= _memory.LimitBytes / 2; // the other half is for the document
            return false;
        }

        _heldBytes += bytes;
        return true;
    }

    private static QueryException Refuse(in QueriedDocument document, string reason, int position) =>
        new(
            QueryFault.Invalid,
            $"The script of the subscription failed on document '{Encoding.UTF8.GetString(document.View.Id)}': "
                + $"{reason}.",
            position
        );
}
