using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Queries.Language;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Support;
using Rookery.Storage;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// One connection of a worker: the handshake, the strategy by which it opens the subscription, and its end. The
/// documents are sent by a <see cref="WorkerFeed"/>.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="connection">The connection.</param>
/// <param name="releaseHandshake">Called when the client is known.</param>
internal sealed class SubscriptionConnection(
    ServerContext context,
    ConnectionContext connection,
    Action releaseHandshake
) : IDisposable
{
    /// <summary>Time in which a client must authenticate and name its subscription.</summary>
    public static readonly TimeSpan HandshakeTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Time between two signs of life while there is nothing to send.</summary>
    public static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(2);

    /// <summary>How long the last messages may take.</summary>
    public static readonly TimeSpan EndTimeout = TimeSpan.FromSeconds(2);

    private readonly MessageReader _reader = new(connection.Transport.Input);
    private readonly CancellationTokenSource _ending = CancellationTokenSource.CreateLinkedTokenSource(
        connection.ConnectionClosed,
        context.Stopping
    );
    private EndOfConnection? _end;
    private bool _isCut;

    /// <summary>Serves the connection until it ends.</summary>
    public async Task RunAsync()
    {
        try
        {
            await ServeAsync();
        }
        catch (DatabaseGoneException gone)
        {
            End(gone.IsDeleted ? DatabaseMissing(gone.Message) : EndOfConnection.Reconnect(gone.Message));
        }
        catch (RefusedException refused)
        {
            End(Invalid(refused.Message));
        }
        catch (Exception failure) when (failure is DamagedException or SnapshotEndedException)
        {
            End(EndOfConnection.Reconnect(failure.Message));
        }
        catch (ConnectionAbortedException)
        {
            _isCut = true; // the client left, or a message was sent in part
        }
        catch (Exception ended)
            when (ended
                    is OperationCanceledException
                        or IOException
                        or InvalidDataException
                        or InvalidOperationException { Source: "System.IO.Pipelines" }
            )
        {
            // The client left, sent something else, or the node stops.
        }
        catch (Exception failure)
        {
            context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A connection of a subscription failed");
            End(new EndOfConnection(Status: null, RequestGate.OwnFault));
        }

        await SendEndAsync();
        await connection.Transport.Output.CompleteAsync();
        await connection.Transport.Input.CompleteAsync();
        await AbortIfUnreadAsync();
    }

    /// <inheritdoc/>
    public void Dispose() => _ending.Dispose();

    private async Task ServeAsync()
    {
        var handshake = new TcpHandshake(context, connection, _reader);
        WorkerOptions options;
        using (var timeout = new CancellationTokenSource(HandshakeTimeout, context.Time))
        using (var limit = CancellationTokenSource.CreateLinkedTokenSource(_ending.Token, timeout.Token))
        {
            if (!await handshake.RunAsync(limit.Token) || await _reader.ReadAsync(limit.Token) is not { } message)
            {
                return;
            }

            releaseHandshake();
            options = WorkerOptions.Read(message);
        }

        if (context.Readiness.Reason is { } reason)
        {
            End(EndOfConnection.Reconnect(reason));
            return;
        }

        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            End(EndOfConnection.Reconnect(RavenRoute.NoBarrierRejection(context).Message));
            return;
        }

        if (!context.Node.Databases.TryGet(handshake.Database, out var database))
        {
            End(DatabaseMissing($"There is no database '{handshake.Database}' on this node."));
            return;
        }

        // As for HTTP. Its acknowledgements would be refused, and the same batch sent again and again.
        if (database.Configurations.IsDisabled)
        {
            End(EndOfConnection.Reconnect(database.WhyDisabled().Message));
            return;
        }

        // Followed before the record is read, so that no change is missed.
        using var changes = database.FollowSubscriptions();
        if (!TryOpen(database, options, out var record, out var criteria))
        {
            return;
        }

        await WorkAsync(handshake, database, changes, options, record!, criteria!);
    }

    private bool TryOpen(
        Database database,
        WorkerOptions options,
        out SubscriptionRecord? record,
        out SubscriptionCriteria? criteria
    )
    {
        criteria = null;
        record = Find(database, options.SubscriptionName);
        if (record is null)
        {
            End(
                new EndOfConnection("NotFound", $"There is no subscription '{options.SubscriptionName}'.")
                {
                    ExceptionType = RavenType.SubscriptionDoesNotExist,
                }
            );
            return false;
        }

        if (record.IsDisabled)
        {
            End(Closed($"The subscription '{record.Name}' is disabled, until it is enabled."));
            return false;
        }

        if (WhyNotServed(record) is { } redirect)
        {
            End(redirect);
            return false;
        }

        try
        {
            criteria = SubscriptionCriteria.Compile(record.Query);
            if (!criteria.OfRevisions || options.Strategy != OpeningStrategy.Concurrent)
            {
                return true;
            }

            End(
                Invalid(
                    $"The subscription '{record.Name}' sends revisions, which workers cannot share. Connect with "
                        + "another 'Strategy' than Concurrent."
                )
            );
            return false;
        }
        catch (QueryException refusal)
        {
            End(Invalid(QueryErrorText.Of(refusal, record.Query)));
            return false;
        }
    }

    private async Task WorkAsync(
        TcpHandshake handshake,
        Database database,
        ChangeSubscription<SubscriptionChange> changes,
        WorkerOptions options,
        SubscriptionRecord record,
        SubscriptionCriteria criteria
    )
    {
        var key = (database.Number, record.Number);
        var worker = new Worker(record.Name, options.Strategy, context.KnownTime.UtcTicks, End);
        if (context.Subscriptions.Enter(key, worker, out var turn) is { } refused)
        {
            End(refused);
            return;
        }

        try
        {
            var watching = WatchAsync(handshake, changes, options, record);
            var feed = new WorkerFeed(context, connection, database, options, criteria, worker, _ending.Token)
            {
                SendsIncludes = handshake.Version >= TcpHandshake.IncludesVersion,
                SendsCounters = handshake.Version >= TcpHandshake.CountersVersion,
                End = End,
            };
            var receiving = ReceiveAsync(feed);
            try
            {
                await feed.WaitForTurnAsync(turn!);
                // Read again: a worker that was here before may have raised the progress.
                if (Find(database, record.Name) is { } current && current.Number == record.Number)
                {
                    if (current.Version == record.Version)
                    {
                        await feed.RunAsync(current, key);
                    }
                    else
                    {
                        // The criteria are those of the earlier version.
                        End(Closed($"The subscription '{record.Name}' was modified.", canReconnect: true));
                    }
                }
            }
            finally
            {
                await _ending.CancelAsync();
                await Task.WhenAll(IgnoreEndAsync(watching), IgnoreEndAsync(receiving));
                feed.Dispose();
            }
        }
        finally
        {
            context.Subscriptions.Leave(key, worker);
        }
    }

    private static async Task IgnoreEndAsync(Task task) =>
        await task.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

    /// <summary>Reads the client's messages until it leaves.</summary>
    private async Task ReceiveAsync(WorkerFeed feed)
    {
        try
        {
            while (await _reader.ReadAsync(_ending.Token) is { } message && feed.Receive(message)) { }
        }
        catch (Exception failure) when (failure is RefusedException or InvalidDataException)
        {
            End(Invalid(failure.Message));
        }
        finally
        {
            await _ending.CancelAsync();
        }
    }

    /// <summary>
    /// Ends the connection when the subscription changes, another member must serve it, or the client loses its rights;
    /// also if the check of these conditions fails.
    /// </summary>
    private async Task WatchAsync(
        TcpHandshake handshake,
        ChangeSubscription<SubscriptionChange> changes,
        WorkerOptions options,
        SubscriptionRecord record
    )
    {
        try
        {
            await WatchUntilEndAsync(handshake, changes, options, record);
        }
        catch (Exception failure) when (failure is DamagedException or SnapshotEndedException or DatabaseGoneException)
        {
            End(EndOfConnection.Reconnect(failure.Message));
        }
        catch (Exception failure) when (!_ending.IsCancellationRequested)
        {
            context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A subscription could not be watched");
            End(EndOfConnection.Reconnect(RequestGate.OwnFault));
        }
    }

    private async Task WatchUntilEndAsync(
        TcpHandshake handshake,
        ChangeSubscription<SubscriptionChange> changes,
        WorkerOptions options,
        SubscriptionRecord record
    )
    {
        long checkedAt = context.Time.GetTimestamp();
        var change = changes.WaitAsync(_ending.Token).AsTask();
        while (true)
        {
            await Task.WhenAny(change, Task.Delay(HeartbeatInterval, context.Time, _ending.Token));
            _ending.Token.ThrowIfCancellationRequested();
            if (change.IsCompleted)
            {
                if (!await change)
                {
                    End(
                        context.Node.Databases.TryGet(handshake.Database, out _)
                            ? EndOfConnection.Reconnect("The database was replaced, or the node stops.")
                            : DatabaseMissing($"The database '{handshake.Database}' was deleted.")
                    );
                    return;
                }

                while (changes.TryRead(out var read))
                {
                    if (read.Number == record.Number && EndOf(read, options, record) is { } end)
                    {
                        End(end);
                        return;
                    }
                }

                if (changes.TakeLagged())
                {
                    End(Closed("Many subscriptions changed at once.", canReconnect: true));
                    return;
                }

                change = changes.WaitAsync(_ending.Token).AsTask();
            }

            if (WhyNotServed(record) is { } redirect)
            {
                End(redirect);
                return;
            }

            if (context.Time.GetElapsedTime(checkedAt) >= FeedAccess.Interval)
            {
                checkedAt = context.Time.GetTimestamp();
                if (handshake.WhyRefused() is { } refusal)
                {
                    End(
                        refusal.Status == StatusCodes.Status503ServiceUnavailable
                            ? EndOfConnection.Reconnect(refusal.Sentence)
                            : Closed(refusal.Sentence)
                    );
                    return;
                }
            }
        }
    }

    private static EndOfConnection? EndOf(
        SubscriptionChange change,
        WorkerOptions options,
        SubscriptionRecord record
    ) =>
        change.Kind switch
        {
            SubscriptionChangeKind.Deleted => new EndOfConnection(
                "NotFound",
                $"The subscription '{record.Name}' was deleted."
            )
            {
                ExceptionType = RavenType.SubscriptionDoesNotExist,
            },
            SubscriptionChangeKind.Disabled => Closed($"The subscription '{record.Name}' was disabled."),
            SubscriptionChangeKind.Modified => Closed(
                $"The subscription '{record.Name}' was modified.",
                canReconnect: true
            ),
            // The clients for Node.js do not say which worker they are, so that naming one means each of them.
            _ when change.WorkerId is { } id && options.WorkerId is { } own && !Same(id, own) => null,
            _ => Closed($"The connection to the subscription '{record.Name}' was dropped by a request."),
        };

    private static bool Same(string one, string other) => string.Equals(one, other, StringComparison.Ordinal);

    private EndOfConnection? WhyNotServed(SubscriptionRecord record)
    {
        var serving = ServingMember.Of(record, context.Node.Consensus.View);
        return serving is { IsSelf: true }
            ? null
            : new EndOfConnection(
                "Redirect",
                serving is null
                    ? $"No member can serve the subscription '{record.Name}' now."
                    : $"Member {serving.Tag} serves the subscription '{record.Name}'."
            )
            {
                ServingTag = serving?.Tag,
                ExceptionType =
                    "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionDoesNotBelongToNodeException",
            };
    }

    private static SubscriptionRecord? Find(Database database, string name)
    {
        using var reader = database.OpenReader();
        return SubscriptionRows.Find(reader, name);
    }

    private static EndOfConnection DatabaseMissing(string sentence) =>
        new(Status: null, sentence) { ExceptionType = RavenType.DatabaseDoesNotExist };

    private static EndOfConnection Invalid(string sentence) =>
        new("Invalid", sentence)
        {
            ExceptionType = "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInvalidStateException",
        };

    private static EndOfConnection Closed(string sentence, bool canReconnect = false) =>
        new("Closed", sentence)
        {
            CanReconnect = canReconnect,
            ExceptionType = "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionClosedException",
        };

    private void End(EndOfConnection end)
    {
        if (Interlocked.CompareExchange(ref _end, end, comparand: null) is null)
        {
            try
            {
                _ = _ending.CancelAsync();
            }
            catch (ObjectDisposedException)
            {
                // The connection has ended already.
            }
        }
    }

    // A client that does not read what is left for it would keep the connection, which is not counted any more.
    private async Task AbortIfUnreadAsync()
    {
        try
        {
            await Task.Delay(EndTimeout, context.Time, connection.ConnectionClosed);
            connection.Abort(new ConnectionAbortedException("The client did not read the end of its subscription."));
        }
        catch (OperationCanceledException)
        {
            // Closed, as usual.
        }
    }

    private async Task SendEndAsync()
    {
        if (_isCut || _end is not { } end || connection.ConnectionClosed.IsCancellationRequested)
        {
            return;
        }

        using var timeout = new CancellationTokenSource(EndTimeout, context.Time);
        try
        {
            await connection.Transport.Output.WriteAsync(
                ServerMessages.End(end, context.Options.NodeTag),
                timeout.Token
            );
        }
        catch (Exception left) when (left is OperationCanceledException or IOException or InvalidOperationException)
        {
            // The client does not read any more.
        }
    }
}
