using System.Text.Json;
using Microsoft.AspNetCore.Connections;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Raven;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// Sends batches to one worker and stores its acknowledgements. One batch is out at a time. A batch is bounded by the
/// number and the bytes of its documents, and never in memory as a whole.
/// </summary>
internal sealed class WorkerFeed : IDisposable
{
    // Bytes of messages after which a batch ends. A client collects a batch before its subscriber sees it.
    private const long MaxBatchBytes = 16 << 20;

    // Documents without a match after which the progress is stored, so that a restart does not read them again.
    private const int SkippedBeforeStore = 10_000;

    // A batch with few documents ends after this time of reading, so that they do not wait for a full one. The time in
    // which the client takes what was sent does not count.
    private static readonly TimeSpan MaxGathering = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan MemoryRetry = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan OverloadRetry = TimeSpan.FromSeconds(1);

    private readonly ServerContext _context;
    private readonly WorkerOutput _output;
    private readonly Database _database;
    private readonly WorkerOptions _options;
    private readonly SubscriptionCriteria _criteria;
    private readonly Worker _worker;
    private readonly CancellationToken _ending;
    private readonly SubscriptionRun _run;
    private readonly BatchIncludes _includes;
    private readonly FeedSlice _slice;
    private readonly SemaphoreSlim _acknowledged = new(0);
    private string? _lastSent; // change vector of the last document of the batch that is out
    private bool _mayHaveMore; // the last reading stopped before the end of the documents, to store the progress
    private volatile bool _isBatchOut;
    private volatile bool _hasSurplus; // an acknowledgement came while no batch was out

    public WorkerFeed(
        ServerContext context,
        ConnectionContext connection,
        Database database,
        WorkerOptions options,
        SubscriptionCriteria criteria,
        Worker worker,
        CancellationToken ending
    )
    {
        (_context, _database, _options) = (context, database, options);
        (_criteria, _worker, _ending) = (criteria, worker, ending);
        _run = new SubscriptionRun(criteria, context.QueryMemory, database.HistoryId, ending);
        _includes = new BatchIncludes(database, criteria, context.QueryMemory, ending);
        _slice = new FeedSlice(database, criteria, _includes, context.QueryMemory, context.Time);
        _output = new WorkerOutput(context, connection, ending);
    }

    /// <summary>Whether batches contain included documents.</summary>
    public bool SendsIncludes { get; init; }

    /// <summary>Whether batches contain included counters.</summary>
    public bool SendsCounters { get; init; }

    /// <summary>Ends the connection.</summary>
    public required Action<EndOfConnection> End { get; init; }

    /// <summary>Waits until the worker may begin; the client receives signs of life meanwhile.</summary>
    public async Task WaitForTurnAsync(Task turn)
    {
        while (!turn.IsCompleted)
        {
            await _output.WaitAsync(turn);
        }
    }

    /// <summary>Sends documents until the connection ends.</summary>
    /// <param name="record">The subscription.</param>
    /// <param name="key">Database and number of the subscription.</param>
    public async Task RunAsync(SubscriptionRecord record, (uint Database, long Number) key)
    {
        bool isShared = _options.Strategy == OpeningStrategy.Concurrent;
        var feed = isShared ? _context.Subscriptions.ShareFeed(key, record.Version, Create) : Create();
        try
        {
            await _output.SendAsync(ServerMessages.Accepted.ToArray());
            while (true)
            {
                _ending.ThrowIfCancellationRequested();
                var changed = feed.Signal.Next();
                if (await SendBatchAsync(feed))
                {
                    await WaitForAcknowledgementAsync();
                    await StoreAsync(feed, record, isAcknowledged: true);
                    await _output.SendAsync(ServerMessages.Confirm.ToArray());
                    continue;
                }

                if (feed.Skipped >= SkippedBeforeStore)
                {
                    await StoreAsync(feed, record, isAcknowledged: false);
                }

                if (_mayHaveMore)
                {
                    continue;
                }

                if (_options.ClosesWhenEmpty && !feed.HasPending)
                {
                    End(
                        new EndOfConnection("Closed", $"No documents are left for '{record.Name}'.")
                        {
                            HasNoDocumentsLeft = true,
                            ExceptionType =
                                "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionClosedException",
                        }
                    );
                    return;
                }

                await WaitForDocumentsAsync(feed, changed);
            }
        }
        finally
        {
            await feed.Turn.WaitAsync(CancellationToken.None);
            feed.Return(_worker);
            feed.Turn.Release();
            feed.Signal.Set();
            if (!isShared)
            {
                feed.Dispose();
            }
        }

        DocumentFeed Create() => new(_database, _criteria, isShared, record.Progress) { Version = record.Version };
    }

    /// <summary>Handles a message of the client.</summary>
    /// <returns>Whether the client stays.</returns>
    /// <exception cref="RefusedException">The message is not valid.</exception>
    public bool Receive(ReadOnlySpan<byte> message)
    {
        string? type = null;
        string? changeVector = null;
        bool namesVector = false;
        JsonBody.Read(
            message,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(
                    ref json,
                    (string name, ref Utf8JsonReader value) =>
                    {
                        switch (name)
                        {
                            case "Type":
                                type = JsonBody.ReadText(ref value, name);
                                break;
                            case "ChangeVector":
                                changeVector = JsonBody.ReadText(ref value, name);
                                namesVector = true;
                                break;
                            default:
                                value.Skip();
                                break;
                        }
                    },
                    "The message"
                );
                return true;
            }
        );
        switch (type)
        {
            case "Acknowledge":
                Acknowledge(changeVector, namesVector);
                return true;
            case "DisposedNotification":
                return false;
            default:
                throw RefusedException.BadRequest($"The message '{type}' is not supported by this version.");
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _slice.Dispose();
        _includes.Dispose();
        _run.Dispose();
        _acknowledged.Dispose();
    }

    // The client for Python acknowledges each confirmation too, with a change vector that is null. Such a message must
    // not acknowledge the next batch, which may be on its way. The client for Node.js 7.2 sends no change vector.
    private void Acknowledge(string? changeVector, bool namesVector)
    {
        bool isOfBatch =
            _isBatchOut
            && (!namesVector || string.Equals(changeVector, Volatile.Read(ref _lastSent), StringComparison.Ordinal));
        if (!isOfBatch)
        {
            _hasSurplus = true;
            return;
        }

        _isBatchOut = false;
        _acknowledged.Release();
    }

    /// <summary>Sends a batch, if there are documents.</summary>
    private async Task<bool> SendBatchAsync(DocumentFeed feed)
    {
        try
        {
            return await GatherBatchAsync(feed);
        }
        finally
        {
            _slice.Begin(0); // holds no memory while the worker processes the batch, or waits for documents
        }
    }

    private async Task<bool> GatherBatchAsync(DocumentFeed feed)
    {
        var reading = TimeSpan.Zero;
        int documents = 0;
        long bytes = 0;
        bool isAtEnd = false;
        _includes.Begin();
        while (!isAtEnd && documents < _options.BatchDocuments && bytes < MaxBatchBytes)
        {
            _slice.Begin(_options.BatchDocuments - documents);
            long begun = _context.Time.GetTimestamp();
            isAtEnd = await ReadAsync(feed);
            reading += _context.Time.GetElapsedTime(begun);
            documents += _slice.Documents;
            bytes += _slice.Messages.Length;
            if (_slice.Documents > 0)
            {
                await _output.SendAsync(_slice.Messages);
            }
            else if (_slice.LacksMemory)
            {
                if (documents > 0)
                {
                    break;
                }

                _includes.Begin(); // holds nothing meanwhile
                await _output.WaitAsync(Task.Delay(MemoryRetry, _context.Time, _ending));
            }

            if (documents > 0 && reading > MaxGathering)
            {
                break;
            }

            if (documents == 0 && !isAtEnd)
            {
                await _output.SendHeartbeatWhenDueAsync();
                if (feed.Skipped >= SkippedBeforeStore)
                {
                    break;
                }

                await Task.Yield();
            }
        }

        _mayHaveMore = !isAtEnd;
        if (documents == 0)
        {
            return false;
        }

        await SendIncludesAsync();
        Volatile.Write(ref _lastSent, _database.ChangeVectorOf(_slice.LastEtag));
        _isBatchOut = true;
        _context.Subscriptions.CountBatch(documents);
        await _output.SendAsync(ServerMessages.EndOfBatch.ToArray());
        return true;
    }

    private async Task<bool> ReadAsync(DocumentFeed feed)
    {
        await EnterAsync(feed.Turn);
        try
        {
            return feed.Read(_worker, _run, _slice);
        }
        finally
        {
            feed.Turn.Release();
        }
    }

    private async Task SendIncludesAsync()
    {
        if (SendsIncludes)
        {
            foreach (var part in _includes.Documents(SendsCounters))
            {
                if (part.IsEmpty)
                {
                    await _output.WaitAsync(Task.Delay(MemoryRetry, _context.Time, _ending));
                }
                else
                {
                    await _output.SendAsync(part, isPart: true);
                }
            }
        }
    }

    private async Task WaitForAcknowledgementAsync()
    {
        var acknowledged = _acknowledged.WaitAsync(_ending);
        while (!acknowledged.IsCompleted)
        {
            await _output.WaitAsync(acknowledged);
        }

        await acknowledged;
    }

    private async Task WaitForDocumentsAsync(DocumentFeed feed, Task changed)
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(_ending);
        Task written = feed.IsFull
            ? Task.Delay(Timeout.InfiniteTimeSpan, waiting.Token)
            : _database.WaitForOperationAfterAsync(feed.Scanned, waiting.Token);
        try
        {
            while (!written.IsCompleted && !changed.IsCompleted)
            {
                await _output.WaitAsync(Task.WhenAny(written, changed));
                if (_hasSurplus && !written.IsCompleted)
                {
                    _hasSurplus = false;
                    await _output.SendAsync(ServerMessages.Confirm.ToArray());
                }
            }
        }
        finally
        {
            await waiting.CancelAsync();
            await written.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>
    /// Stores the progress in the log, if it rose. Several workers that share the subscription store it one after the
    /// other.
    /// </summary>
    private async Task StoreAsync(DocumentFeed feed, SubscriptionRecord record, bool isAcknowledged)
    {
        await EnterAsync(feed.AcknowledgementTurn);
        try
        {
            long progress = await FindProgressAsync(feed, isAcknowledged);
            while (progress > feed.Stored)
            {
                var outcome = await ProposeAsync(feed, record, progress);
                if (outcome.Rejection is { Kind: RejectionKind.Overloaded })
                {
                    await _output.WaitAsync(Task.Delay(OverloadRetry, _context.Time, _ending));
                    continue;
                }

                if (WhyNotStored(outcome) is { } end)
                {
                    End(end);
                    _ending.ThrowIfCancellationRequested();
                    throw new OperationCanceledException(_ending);
                }

                feed.SetStored(progress);
                _context.Subscriptions.CountAcknowledgement();
            }
        }
        finally
        {
            feed.AcknowledgementTurn.Release();
        }

        if (isAcknowledged)
        {
            feed.Signal.Set(); // documents that changed while they were out can be sent now
        }
        else
        {
            // Another worker's batch may hold the progress back. Its acknowledgement stores these documents, too, so
            // they count as stored: this sets Skipped to 0.
            feed.SetStored(feed.Stored);
        }
    }

    // Without a majority this takes long, so the client receives signs of life.
    private async Task<CommandOutcome> ProposeAsync(DocumentFeed feed, SubscriptionRecord record, long progress)
    {
        var proposing = _context
            .Node.Consensus.ProposeAsync(
                SubscriptionWriter.Acknowledge(
                    _database.Number,
                    record.Number,
                    record.Version,
                    feed.Stored,
                    progress,
                    _worker.ConnectedTicks
                ),
                CancellationToken.None
            )
            .AsTask();
        try
        {
            while (!proposing.IsCompleted)
            {
                await _output.WaitAsync(proposing);
            }
        }
        catch
        {
            // Other workers of the feed continue after what was stored.
            if (await proposing is { Rejection: null } outcome && WhyNotStored(outcome) is null)
            {
                feed.SetStored(progress);
            }

            throw;
        }

        return await proposing;
    }

    /// <summary>Waits for a turn that other workers have, with signs of life meanwhile.</summary>
    private async Task EnterAsync(SemaphoreSlim turn)
    {
        var entering = turn.WaitAsync(_ending);
        try
        {
            while (!entering.IsCompleted)
            {
                await _output.WaitAsync(entering);
            }

            await entering;
        }
        catch
        {
            await entering.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (entering.IsCompletedSuccessfully)
            {
                turn.Release();
            }

            throw;
        }
    }

    private async Task<long> FindProgressAsync(DocumentFeed feed, bool isAcknowledged)
    {
        await EnterAsync(feed.Turn);
        try
        {
            if (isAcknowledged)
            {
                feed.Acknowledge(_worker);
            }

            return feed.Progress;
        }
        finally
        {
            feed.Turn.Release();
        }
    }

    private static EndOfConnection? WhyNotStored(CommandOutcome outcome)
    {
        if (outcome.Rejection is { } rejection)
        {
            return EndOfConnection.Reconnect(rejection.Message);
        }

        return outcome[0].Status == OperationStatus.Configured
            ? null
            : EndOfConnection.Reconnect(
                "The progress of the subscription was changed meanwhile, by a request or by another member."
            );
    }
}
