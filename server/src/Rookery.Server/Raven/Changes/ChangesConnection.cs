using System.Net.WebSockets;
using System.Text.Json;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Indexes;
using Rookery.Server.Access;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Changes;

/// <summary>
/// One WebSocket that listens to changes. One loop reads commands, one sends document changes, one sends states of
/// operations, and two send index changes. A client that lags too far is disconnected, because it could not know which
/// changes it missed; RavenDB's clients then reconnect.
/// </summary>
internal sealed class ChangesConnection(
    WebSocket socket,
    Database database,
    OperationRegistry operations,
    ChangeSubscription<IndexBatch> batches,
    FeedAccess access,
    TimeProvider time
) : IDisposable
{
    // Short, because a close reason has at most 123 bytes (RFC 6455, 5.5). A client that reconnects receives the full
    // sentence.
    private const string AccessEnded =
        "The credential of this connection was revoked, has expired, or has lost its rights here.";

    private const string ChangesLost =
        "Changes were lost or the database is gone. Connect again and read what changed.";

    private const string NodeStops = "The node stops. Connect to another one, or again in a moment.";

    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(2);

    // Longest time for sending one message. Changes queue up meanwhile.
    private static readonly TimeSpan SendTimeout = TimeSpan.FromSeconds(30);

    // The longest command names an id and a counter of 512 bytes each, and each byte may be escaped as six.
    private const int MessageBytes = 16 << 10;
    private const int ChangesPerMessage = 256;

    private readonly ChangeWatches _watches = new();
    private readonly SemaphoreSlim _sending = new(1);
    private readonly OperationQueue _operations = new();

    /// <summary>
    /// Serves until the client disconnects, loses its rights, or lags too far, the database is deleted, or the node
    /// stops.
    /// </summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        // A stop does not cancel the loops at once: that would abort the socket before its close frame is sent.
        using var ending = new CancellationTokenSource();
        var stop = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var registration = stopping.Register(() => stop.TrySetResult());
        using var changes = database.Subscribe();
        using var indexChanges = database.SubscribeToIndexes();
        operations.Changed += Post;
        var accessEnd = WaitForAccessEndAsync(ending.Token);
        var receiving = ReceiveAsync(ending.Token);
        Task[] senders =
        [
            SendChangesAsync(changes, ending.Token),
            SendOperationsAsync(ending.Token),
            SendIndexChangesAsync(indexChanges, ending.Token),
            SendBatchesAsync(ending.Token),
        ];
        var sending = Task.WhenAny(senders);
        try
        {
            await Task.WhenAny(receiving, sending, accessEnd, stop.Task);
            var (status, reason) =
                accessEnd.IsCompletedSuccessfully ? (WebSocketCloseStatus.PolicyViolation, AccessEnded)
                : stop.Task.IsCompleted ? (WebSocketCloseStatus.EndpointUnavailable, NodeStops)
                : sending.IsCompleted ? (WebSocketCloseStatus.InternalServerError, ChangesLost)
                : (WebSocketCloseStatus.NormalClosure, null);
            await CloseAsync(receiving, status, reason);
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // The client disconnected.
        }
        finally
        {
            operations.Changed -= Post;
            await ending.CancelAsync();
            await WaitForAllAsync([accessEnd, receiving, .. senders]);
        }
    }

    public void Dispose() => _sending.Dispose();

    private static bool IsEnd(Exception failure) =>
        failure is WebSocketException or OperationCanceledException or IOException or TimeoutException;

    // The loops use the subscriptions and the semaphore, which are disposed afterwards.
    private static async Task WaitForAllAsync(Task[] loops)
    {
        try
        {
            await Task.WhenAll(loops);
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // They were cancelled, or the client disconnected.
        }
    }

    private void Post(object? sender, OperationChangedEventArgs changed)
    {
        if (changed.Operation.Database == database.Number && _watches.WantsOperation(changed.Operation.Id))
        {
            _operations.Post(changed.Operation);
        }
    }

    private async Task WaitForAccessEndAsync(CancellationToken ending)
    {
        using var timer = new PeriodicTimer(FeedAccess.Interval, time);
        while (access.WhyEnded() is null)
        {
            await timer.WaitForNextTickAsync(ending);
        }
    }

    private async Task ReceiveAsync(CancellationToken ending)
    {
        byte[] message = new byte[MessageBytes];
        int length = 0;
        bool isTooLong = false;
        while (true)
        {
            var received = await socket.ReceiveAsync(message.AsMemory(length), ending);
            if (received.MessageType == WebSocketMessageType.Close)
            {
                return;
            }

            length += received.Count;
            if (received.EndOfMessage)
            {
                await (
                    isTooLong
                        ? ConfirmAsync(id: 0, $"The command is longer than {MessageBytes >> 10} KiB.", ending)
                        : ExecuteAsync(message.AsMemory(0, length), ending)
                );
                (length, isTooLong) = (0, false);
            }
            else if (isTooLong || length == message.Length)
            {
                (length, isTooLong) = (0, true); // the rest is read to find the next command
            }
        }
    }

    private async Task ExecuteAsync(ReadOnlyMemory<byte> message, CancellationToken ending)
    {
        string? problem;
        long id = 0;
        try
        {
            var command = ChangesCommand.Read(message.Span, out id);
            problem = _watches.TryExecute(command.Name, command.Parameter, command.SecondParameter)
                ? null
                : $"The command '{command.Name}' is unknown, lacks its Param, or exceeds the "
                    + $"maximum of {ChangeWatches.MaximumOfKind} watches of its kind.";
        }
        catch (RefusedException refused)
        {
            problem = refused.Message;
        }

        await ConfirmAsync(id, problem, ending);
    }

    private Task ConfirmAsync(long id, string? problem, CancellationToken ending) =>
        SendAsync(
            json =>
            {
                json.WriteStartObject();
                json.WriteNumber("CommandId"u8, id);
                json.WriteString("Type"u8, problem is null ? "Confirm"u8 : "Error"u8);
                if (problem is not null)
                {
                    json.WriteString("Exception"u8, problem);
                }

                json.WriteEndObject();
            },
            ending
        );

    private async Task SendChangesAsync(ChangeSubscription<DocumentChange> changes, CancellationToken ending)
    {
        var wanted = new List<DocumentChange>();
        while (await changes.WaitAsync(ending))
        {
            bool any = false;
            while (wanted.Count < ChangesPerMessage && changes.TryRead(out var change))
            {
                any = true;
                if (_watches.Wants(change))
                {
                    wanted.Add(change);
                }
            }

            if (changes.TakeLagged())
            {
                return;
            }

            bool notifiesCaches = any && _watches.Caches;
            if (wanted.Count > 0 || notifiesCaches)
            {
                await SendAsync(json => WriteChanges(json, wanted, notifiesCaches), ending);
                wanted.Clear();
            }
        }
    }

    private async Task SendOperationsAsync(CancellationToken ending)
    {
        while (await _operations.ReadAsync(ending) is { } operation)
        {
            try
            {
                await SendAsync(json => WriteOperation(json, operation), ending);
            }
            catch (RefusedException)
            {
                // The operation was removed before its state was sent.
                return;
            }
        }
    }

    private async Task SendIndexChangesAsync(ChangeSubscription<IndexChange> changes, CancellationToken ending)
    {
        while (await changes.WaitAsync(ending))
        {
            while (changes.TryRead(out var change))
            {
                if (_watches.WantsIndex(change.Name))
                {
                    await SendAsync(json => WriteIndexChange(json, change.Name, NameOf(change.Kind)), ending);
                }
            }

            if (changes.TakeLagged())
            {
                return;
            }
        }
    }

    private async Task SendBatchesAsync(CancellationToken ending)
    {
        while (await batches.WaitAsync(ending))
        {
            while (batches.TryRead(out var batch))
            {
                if (batch.Database == database.Number && _watches.WantsIndex(batch.Name))
                {
                    await SendAsync(json => WriteIndexChange(json, batch.Name, "BatchCompleted"), ending);
                }
            }

            if (batches.TakeLagged())
            {
                return;
            }
        }
    }

    private static string NameOf(IndexChangeKind kind) =>
        kind switch
        {
            IndexChangeKind.Defined => "IndexAdded",
            IndexChangeKind.Deleted => "IndexRemoved",
            IndexChangeKind.Locked => "LockModeChanged",
            _ => "PriorityChanged",
        };

    private static void WriteIndexChange(Utf8JsonWriter json, string name, string type)
    {
        json.WriteStartArray();
        json.WriteStartObject();
        json.WriteString("Type"u8, "IndexChange"u8);
        json.WriteStartObject("Value"u8);
        json.WriteString("Type"u8, type);
        json.WriteString("Name"u8, name);
        json.WriteEndObject();
        json.WriteEndObject();
        json.WriteEndArray();
    }

    private void WriteChanges(Utf8JsonWriter json, List<DocumentChange> changes, bool notifiesCaches)
    {
        json.WriteStartArray();
        foreach (var change in changes)
        {
            json.WriteStartObject();
            if (change.Counter is not null)
            {
                WriteCounterChange(json, change);
                json.WriteEndObject();
                continue;
            }

            json.WriteString("Type"u8, "DocumentChange"u8);
            json.WriteStartObject("Value"u8);
            json.WriteString("Type"u8, change.Kind == DocumentChangeKind.Put ? "Put"u8 : "Delete"u8);
            json.WriteString("Id"u8, change.Id);
            json.WriteString("CollectionName"u8, DocumentJson.CollectionName(change.Collection));
            json.WriteString("ChangeVector"u8, database.ChangeVectorOf(change.Etag));
            json.WriteEndObject();
            json.WriteEndObject();
        }

        if (notifiesCaches)
        {
            json.WriteStartObject();
            json.WriteString("Type"u8, "AggressiveCacheChange"u8);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private void WriteCounterChange(Utf8JsonWriter json, in DocumentChange change)
    {
        string type = change.Kind switch
        {
            DocumentChangeKind.CounterPut => "Put",
            DocumentChangeKind.CounterDelete => "Delete",
            _ => "Increment",
        };
        json.WriteString("Type"u8, "CounterChange"u8);
        json.WriteStartObject("Value"u8);
        json.WriteString("Type"u8, type);
        json.WriteString("Name"u8, change.Counter);
        json.WriteNumber("Value"u8, change.CounterValue);
        json.WriteString("DocumentId"u8, change.Id);
        json.WriteString("CollectionName"u8, DocumentJson.CollectionName(change.Collection));
        json.WriteString("ChangeVector"u8, database.ChangeVectorOf(change.Etag));
        json.WriteEndObject();
    }

    private static void WriteOperation(Utf8JsonWriter json, LongOperation operation)
    {
        json.WriteStartArray();
        json.WriteStartObject();
        json.WriteString("Type"u8, "OperationStatusChange"u8);
        json.WriteStartObject("Value"u8);
        json.WriteNumber("OperationId"u8, operation.Id);
        json.WriteStartObject("State"u8);
        OperationRoutes.WriteState(json, operation);
        json.WriteEndObject();
        json.WriteEndObject();
        json.WriteEndObject();
        json.WriteEndArray();
    }

    private async Task SendAsync(Action<Utf8JsonWriter> write, CancellationToken ending)
    {
        using var message = ResponseBuffer.Rent();
        using (var json = new Utf8JsonWriter(message))
        {
            write(json);
        }

        await _sending.WaitAsync(ending);
        try
        {
            var sent = socket.SendAsync(message.Written, WebSocketMessageType.Text, endOfMessage: true, ending);
            await (
                sent.IsCompletedSuccessfully ? sent : new ValueTask(sent.AsTask().WaitAsync(SendTimeout, time, ending))
            );
        }
        catch (TimeoutException tooSlow)
        {
            socket.Abort();
            throw new IOException("The client accepted no message within the timeout.", tooSlow);
        }
        finally
        {
            _sending.Release();
        }
    }

    /// <summary>
    /// Sends a close frame and waits up to two seconds for the client's close frame. An immediate disconnect could
    /// discard the messages sent last.
    /// </summary>
    /// <exception cref="TimeoutException">The client accepts nothing.</exception>
    private async Task CloseAsync(Task receiving, WebSocketCloseStatus status, string? reason)
    {
        if (socket.State is WebSocketState.Open or WebSocketState.CloseReceived)
        {
            await socket.CloseOutputAsync(status, reason, CancellationToken.None).WaitAsync(CloseTimeout, time);
            await Task.WhenAny(receiving, Task.Delay(CloseTimeout, time));
        }
    }
}
