using System.IO.Pipelines;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Server.Raven.Attachments;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// Gathers the documents of a bulk insert into chunks: commands of a little less than 1 MiB. One chunk is proposed
/// while the next is gathered.
/// </summary>
internal sealed class BulkInsertChunks(
    ServerContext context,
    Database database,
    BulkOperation operation,
    OperationRegistry operations,
    StreamedRoom room,
    PipeReader body,
    bool skipUnchanged
) : IDisposable
{
    // A chunk ends with the document that exceeds this limit. The limit leaves room for that document, so that the
    // chunk and its frame usually fit into pooled buffers of 1 MiB; the next larger size is 2 MiB.
    private const int ChunkBytes = 896 << 10;
    private const int ChunkDocuments = 8192;

    // Limits the chunks in flight of all bulk inserts together. A wait here slows the client down. Without the limit,
    // Admission would refuse the chunk.
    private static readonly SemaphoreSlim InFlightLimit = new(4);

    private readonly IConsensus _consensus = context.Node.Consensus;
    private readonly GatheredCounters _counters = new(database);
    private BatchWriter _chunk = NewChunk(context, database, skipUnchanged);
    private byte[] _lastId = []; // of the documents gathered so far, the last one that ended a chunk
    private Task<CommandOutcome>? _inFlight;
    private int _documentsInFlight;
    private byte[] _lastIdInFlight = [];
    private readonly BulkInsertContents _contents = new(context, database);
    private readonly ContentPace _pace = new(context.Time, body);
    private IReadOnlyList<PinnedContent> _pinsInFlight = [];
    private int _longestDocument; // of this chunk and of the one in flight
    private int _longestInFlight;
    private int _countersInFlight;
    private bool _hasRest; // whether the last element has operations on counters that are not in a chunk yet

    /// <summary>Whether the next bytes of the body belong to the content of an attachment.</summary>
    public bool IsReceivingContent => _contents.IsReceiving;

    /// <summary>
    /// Receives bytes of an attachment's content, and stores what was gathered before, if the content is long.
    /// </summary>
    /// <returns>Whether the content is complete; otherwise more bytes must be fed.</returns>
    /// <exception cref="RefusedException">A chunk was refused, or the content.</exception>
    public async ValueTask<bool> ReceiveAsync(BulkInsertReader documents)
    {
        // A chunk holds room for a limited time only, and a long content may take longer.
        const int LongBytes = 256 << 10;
        if (!_contents.IsReceiving)
        {
            _pace.Begin();
            if (documents.ContentLeft > LongBytes)
            {
                await StoreRestAsync();
            }
        }

        // The counters of this chunk follow its attachments in the command.
        long unapplied =
            Math.Max(_longestDocument, _longestInFlight) + ReplacedNames.CostOfCounters(database, _countersInFlight);
        if (!await _contents.ReceiveAsync(documents, _chunk, unapplied))
        {
            return false;
        }

        if (
            _contents.IsFull
            || _chunk.Count + _counters.Count >= ChunkDocuments
            || _chunk.Length + _counters.Bytes >= ChunkBytes
        )
        {
            await StoreAsync();
        }

        return true;
    }

    /// <summary>Adds documents until the reader has no more or the chunk is full.</summary>
    /// <returns><see cref="StreamRead.Item"/> if the chunk is full, otherwise the reader's result.</returns>
    public StreamRead Fill(BulkInsertReader documents, out InputError error)
    {
        error = default;
        while (true)
        {
            if (_hasRest)
            {
                _counters.LimitTo(ChunkDocuments - _chunk.Count, ChunkBytes - _chunk.Length);
                _hasRest = !documents.TryAddRest(_counters);
                if (_hasRest)
                {
                    return StreamRead.Item;
                }
            }

            var read = documents.Read(out var id, out var document, out error);
            if (read != StreamRead.Item)
            {
                return read;
            }

            if (!DocumentId.TryValidateForStore(id, out error))
            {
                return StreamRead.Error;
            }

            _counters.LimitTo(ChunkDocuments - _chunk.Count, ChunkBytes - _chunk.Length);
            int before = _chunk.Length;
            _hasRest = !documents.AddTo(_chunk, _counters, id, document);
            _longestDocument = Math.Max(_longestDocument, _chunk.Length - before);
            int length = checked((int)(_chunk.Length + _counters.Bytes));
            if (
                _hasRest
                || length >= ChunkBytes
                || _chunk.Count + _counters.Count >= ChunkDocuments
                || _counters.IsFull
                || !room.HasRoomForChunk(length, ChunkBytes)
            )
            {
                _lastId = _hasRest ? _lastId : id.ToArray();
                return StreamRead.Item;
            }
        }
    }

    /// <summary>Waits until the previous chunk is stored, then proposes this one.</summary>
    /// <exception cref="RefusedException">The previous chunk was refused.</exception>
    public async ValueTask StoreAsync()
    {
        await FinishInFlightAsync();
        Propose();
        room.RenewChunk();
    }

    /// <summary>Stores all gathered documents and waits until they are durable.</summary>
    /// <exception cref="RefusedException">A chunk was refused.</exception>
    public async ValueTask StoreRestAsync()
    {
        await FinishInFlightAsync();
        if (!IsEmpty)
        {
            Propose();
            await FinishInFlightAsync();
        }

        room.ReleaseChunks();
    }

    /// <summary>Reads from the body. While the client pauses, it stores the gathered documents.</summary>
    /// <exception cref="RefusedException">A chunk was refused.</exception>
    public async ValueTask<ReadResult> StoreWhileWaitingAsync()
    {
        var reading = _contents.IsReceiving ? _pace.WaitAsync(room.ReadAsync()) : room.ReadAsync();
        if (reading.IsCompletedSuccessfully || (IsEmpty && _inFlight is null))
        {
            return await reading;
        }

        var read = reading.AsTask();
        try
        {
            await WaitForReadOrChunkAsync(read);
            if (!read.IsCompleted && !IsEmpty)
            {
                await StoreAsync();
                await WaitForReadOrChunkAsync(read);
            }

            if (!read.IsCompleted)
            {
                // Wait for the chunk in flight. Its error is then reported during the pause, and a client that pauses
                // for long holds no room.
                await FinishInFlightAsync();
                room.ReleaseChunks();
            }
        }
        catch
        {
            body.CancelPendingRead();
            body.AdvanceTo((await read).Buffer.Start);
            throw;
        }

        return await read;
    }

    public void Dispose()
    {
        _chunk.Dispose();
        _counters.Dispose();
        _contents.Dispose();
        _pace.Dispose();
        if (_inFlight is null)
        {
            BulkInsertContents.Release(_pinsInFlight);
            return;
        }

        // The contents stay until the chunk is applied or refused, also if nobody waits for that.
        _ = _inFlight.ContinueWith(
            static (_, pins) => BulkInsertContents.Release((IReadOnlyList<PinnedContent>)pins!),
            _pinsInFlight,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default
        );
    }

    private bool IsEmpty => _chunk.Count + _counters.Count == 0;

    /// <summary>
    /// Begins a chunk. In a cluster it has an idempotency key, so it can be proposed again if its outcome is unknown.
    /// The database remembers a key in a few bytes.
    /// </summary>
    private static BatchWriter NewChunk(ServerContext context, Database database, bool skipUnchanged) =>
        new(
            CommandKind.BulkPut,
            database.Number,
            context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None,
            skipUnchanged
        );

    private Task WaitForReadOrChunkAsync(Task read) =>
        _inFlight is { } inFlight ? Task.WhenAny(read, inFlight) : Task.CompletedTask;

    private void Propose()
    {
        _countersInFlight = _counters.Count;
        _counters.MoveTo(_chunk);
        _documentsInFlight = _chunk.Count;
        _lastIdInFlight = _lastId;
        _pinsInFlight = _contents.TakePins();
        (_longestInFlight, _longestDocument) = (_longestDocument, 0);
        var command = _chunk.Complete();
        _chunk.Dispose();
        _chunk = NewChunk(context, database, skipUnchanged);
        _inFlight = ProposeAsync(command);
    }

    private async Task<CommandOutcome> ProposeAsync(CommandBuffer command)
    {
        try
        {
            await InFlightLimit.WaitAsync(operation.Killed);
        }
        catch (OperationCanceledException)
        {
            command.Dispose();
            throw;
        }

        try
        {
            return await ProposalRetry.ProposeAsync(_consensus, command, context.Time, operation.Killed);
        }
        finally
        {
            InFlightLimit.Release();
        }
    }

    private async ValueTask FinishInFlightAsync()
    {
        if (_inFlight is not { } inFlight)
        {
            return;
        }

        CommandOutcome outcome;
        try
        {
            outcome = await inFlight;
        }
        finally
        {
            _inFlight = null;
            _countersInFlight = 0;
            BulkInsertContents.Release(_pinsInFlight);
            _pinsInFlight = [];
        }

        if (outcome.Rejection is { } rejection)
        {
            operation.Killed.ThrowIfCancellationRequested();
            throw RavenErrors.Refuse(rejection);
        }

        operation.AddBatch(
            _documentsInFlight,
            _lastIdInFlight.Length == 0 ? null : Encoding.UTF8.GetString(_lastIdInFlight)
        );
        operations.Announce(operation);
    }
}
