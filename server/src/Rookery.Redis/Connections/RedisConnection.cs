using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.Extensions.Logging;
using Rookery.Redis.Changes;
using Rookery.Redis.Commands;
using Rookery.Redis.Protocol;
using Rookery.Server;
using Rookery.Server.Access;
using Rookery.Server.Support;

namespace Rookery.Redis.Connections;

/// <summary>
/// One connection of a Redis client: reads its commands, executes them in order and sends the replies of a burst
/// together.
/// </summary>
internal sealed class RedisConnection : IDisposable
{
    /// <summary>Time in which a client must authenticate.</summary>
    public static readonly TimeSpan AuthenticationTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Longest pause within a command, so that half-sent commands do not hold memory for ever.</summary>
    public static readonly TimeSpan MaxPause = TimeSpan.FromSeconds(60);

    // A client that has closed only its sending half waits for its replies. It cannot be told from one that has left.
    private static readonly TimeSpan ReadsAfterClosing = TimeSpan.FromSeconds(5);

    private readonly ConnectionContext _connection;
    private readonly RequestParser _parser;
    private readonly CommandDispatch _dispatch;
    private readonly CancellationTokenSource _ending;
    private readonly CancellationTokenSource _endingReads;
    private readonly CancellationTokenRegistration _closing;
    private readonly CancellationTokenRegistration _stopping;

    private RedisConnection(RedisNode node, ConnectionContext connection)
    {
        (Node, _connection) = (node, connection);
        Id = node.Clients.NextId();
        ConnectedAt = LastCommandAt = node.Context.Time.GetTimestamp();
        _parser = new RequestParser(node.Limits, node.Memory);
        _ending = CancellationTokenSource.CreateLinkedTokenSource(connection.ConnectionClosed, node.Context.Stopping);
        _endingReads = new CancellationTokenSource(Timeout.InfiniteTimeSpan, node.Context.Time);
        _closing = connection.ConnectionClosed.UnsafeRegister(
            static reads => ((CancellationTokenSource)reads!).CancelAfter(ReadsAfterClosing),
            _endingReads
        );
        _stopping = node.Context.Stopping.UnsafeRegister(
            static reads => ((CancellationTokenSource)reads!).Cancel(),
            _endingReads
        );
        Identity = new ConnectionIdentity(node, connection);
        Held = new HeldMemory(node.Memory);
        Replies = new ReplyBuffer(node.Memory);
        Output = new ReplyOutput(node, connection);
        Data = new DataCommands(this);
        Subscriptions = new Messages.Subscriptions(this);
        _dispatch = new CommandDispatch(this);
    }

    public RedisNode Node { get; }

    /// <summary>Number of the connection.</summary>
    public long Id { get; }

    /// <summary>Name that the client gave itself.</summary>
    public string Name { get; set; } = string.Empty;

    /// <summary>Name and version of the client's library.</summary>
    public string LibraryName { get; set; } = string.Empty;

    public string LibraryVersion { get; set; } = string.Empty;

    /// <summary>Name of the last command.</summary>
    public string LastCommand { get; set; } = string.Empty;

    public long ConnectedAt { get; }

    public long LastCommandAt { get; private set; }

    public ConnectionIdentity Identity { get; }

    public ReplyBuffer Replies { get; }

    public ReplyOutput Output { get; }

    public DataCommands Data { get; }

    public Messages.Subscriptions Subscriptions { get; }

    /// <summary>Memory of what the connection holds between commands.</summary>
    public HeldMemory Held { get; }

    /// <summary>The transaction that MULTI began; null without one.</summary>
    public Transaction? Transaction { get; set; }

    /// <summary>Which replies the client wants.</summary>
    public ReplyMode ReplyMode { get; set; }

    /// <summary>Whether the connection ends after the replies so far.</summary>
    public bool IsEnding { get; set; }

    /// <summary>Cancelled when the client has left or closed its sending half, or the node stops. Ends waits.</summary>
    public CancellationToken Ended => _ending.Token;

    /// <summary>
    /// Cancelled some seconds after the client has left or closed its sending half, or when the node stops. Ends reads.
    /// </summary>
    public CancellationToken ReadsEnd => _endingReads.Token;

    public string RemoteAddress => TextOf(_connection.RemoteEndPoint);

    public string LocalAddress => TextOf(_connection.LocalEndPoint);

    /// <summary>Serves a connection until it ends.</summary>
    public static async Task ServeAsync(RedisNode node, ConnectionContext connection)
    {
        using var served = new RedisConnection(node, connection);
        await served.RunAsync();
    }

    /// <summary>Whether an exception means that the client is gone, or the node stops.</summary>
    public static bool IsEnd(Exception failure) =>
        failure
            is OperationCanceledException
                or IOException
                or ConnectionAbortedException
                or SocketException
                or ObjectDisposedException
                or InvalidOperationException { Source: "System.IO.Pipelines" };

    /// <summary>Appends an error and counts it.</summary>
    public void Fail(string error)
    {
        Node.Metrics.CountError();
        Replies.Error(error);
    }

    /// <summary>
    /// Returns whether the client does not want the reply of the current command. The next call is for the next
    /// command.
    /// </summary>
    public bool TakeSilence()
    {
        var mode = ReplyMode;
        ReplyMode = mode switch
        {
            ReplyMode.SkipThis => ReplyMode.SkipNext,
            ReplyMode.SkipNext => ReplyMode.On,
            _ => mode,
        };
        return mode != ReplyMode.On;
    }

    /// <summary>
    /// Waits within a command for a change. If the client loses its rights meanwhile, the connection ends.
    /// </summary>
    /// <param name="waiter">Wakes the connection.</param>
    /// <param name="left">The longest wait; null for no limit.</param>
    /// <param name="command">The command, for the error.</param>
    /// <param name="needed">The scopes of the command.</param>
    public async ValueTask<WaitEnd> WaitAsync(ChangeWaiter waiter, TimeSpan? left, string command, AccessScopes needed)
    {
        var time = Node.Context.Time;
        long start = time.GetTimestamp();
        while (true)
        {
            var rest = left - time.GetElapsedTime(start);
            bool isWhole = !Identity.MayEnd || rest <= Node.AccessInterval;
            bool isWoken = await waiter.WaitAsync(isWhole ? rest : Node.AccessInterval, time, Ended);
            Identity.Refresh();
            if ((Identity.Scopes & needed) != needed)
            {
                Fail(Identity.IsKnown ? Identity.Refuse(command, needed) : CommandDispatch.NotAuthenticated);
                IsEnding = true;
                return WaitEnd.Refused;
            }

            if (isWoken || isWhole)
            {
                return isWoken ? WaitEnd.Changed : WaitEnd.TimedOut;
            }
        }
    }

    /// <summary>Accepts large commands from now on, because the client has authenticated.</summary>
    public void TrustClient() => _parser.IsTrusted = true;

    /// <summary>Ends the connection at once; any thread may call it.</summary>
    public void Kill(string reason) => _connection.Abort(new ConnectionAbortedException(reason));

    /// <inheritdoc/>
    public void Dispose()
    {
        Node.Clients.Remove(this);
        Subscriptions.Dispose();
        Data.Dispose();
        Output.Dispose();
        _parser.Dispose();
        Replies.Release();
        Held.Dispose();
        _ending.Dispose();
        _closing.Dispose();
        _stopping.Dispose();
        _endingReads.Dispose();
    }

    private async Task RunAsync()
    {
        try
        {
            if (!Node.Clients.TryAdd(this))
            {
                Node.Metrics.CountRefusal();
                Replies.Error($"ERR max number of clients reached: this node serves {Node.Clients.Max} at once.");
                await Output.SendAsync(Replies);
            }
            else
            {
                Node.Metrics.CountConnection();
                KeepAlive();
                await ReadAsync();
            }

            await Output.EndAsync();
            await _connection.Transport.Output.CompleteAsync();
            await _connection.Transport.Input.CompleteAsync();
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // The client left, or the node stops.
        }
        catch (Exception failure)
        {
            Node.Context.FaultLog.LogError(LogEvents.RequestFailed, failure, "A connection of a Redis client failed");
            await TryReportAsync();
        }
        finally
        {
            // The server completes the pipe after this method.
            await Output.EndAsync();
        }
    }

    private async Task ReadAsync()
    {
        Identity.Refresh();
        _parser.IsTrusted = Identity.IsKnown;
        var input = _connection.Transport.Input;
        while (!IsEnding && !Node.Context.Stopping.IsCancellationRequested)
        {
            // A client that has closed its sending half still gets the replies to all that it sent before.
            var read = input.ReadAsync(Node.Context.Stopping);
            var received = read.IsCompletedSuccessfully ? read.Result : await WaitForBytesAsync(read);
            if (received.Buffer.Length > 0)
            {
                _parser.Append(received.Buffer);
                input.AdvanceTo(received.Buffer.End);
                LastCommandAt = Node.Context.Time.GetTimestamp();
                if (!await RunBurstAsync())
                {
                    return;
                }
            }

            if (received.IsCompleted || received.IsCanceled)
            {
                return;
            }
        }
    }

    // A client that must authenticate, or is inside a command, may not pause for ever. A subscriber may, as long as its
    // credential is valid.
    private async ValueTask<System.IO.Pipelines.ReadResult> WaitForBytesAsync(
        ValueTask<System.IO.Pipelines.ReadResult> read
    )
    {
        if (LongestPause() is not { } pause)
        {
            return await read;
        }

        var task = read.AsTask();
        while (true)
        {
            try
            {
                return await task.WaitAsync(pause, Node.Context.Time);
            }
            catch (TimeoutException)
            {
                if (!MayListenOn())
                {
                    _connection.Abort(
                        new ConnectionAbortedException("The client did not send the rest in time, or lost its rights.")
                    );
                    return await task;
                }
            }
        }
    }

    private TimeSpan? LongestPause()
    {
        if (!Identity.IsKnown)
        {
            var left = AuthenticationTimeout - Node.Context.Time.GetElapsedTime(ConnectedAt);
            return left < TimeSpan.Zero ? TimeSpan.Zero : left;
        }

        return _parser.IsInsideCommand ? MaxPause
            : Subscriptions.Count > 0 && Identity.MayEnd ? Node.AccessInterval
            : null;
    }

    private bool MayListenOn()
    {
        bool isListening = Identity.IsKnown && !_parser.IsInsideCommand;
        Identity.Refresh();
        return isListening && (Identity.Scopes & AccessScopes.Read) != AccessScopes.None;
    }

    private async ValueTask<bool> RunBurstAsync()
    {
        Identity.Refresh();
        _parser.IsTrusted = Identity.IsKnown;
        Data.BeginBurst();
        try
        {
            while (!IsEnding)
            {
                var status = _parser.Read();
                if (status == RequestStatus.Incomplete)
                {
                    break;
                }

                var step = status == RequestStatus.Command ? _dispatch.RunAsync(_parser) : RefuseAsync(status);
                if (!step.IsCompletedSuccessfully)
                {
                    await step;
                }

                if (Replies.Length > ReplyOutput.PieceBytes)
                {
                    // A slow client must not keep a snapshot open.
                    Data.EndReads();
                    if (!await Output.SendAsync(Replies))
                    {
                        return false;
                    }
                }
            }

            await Data.CommitAsync();
        }
        finally
        {
            Data.EndBurst();
        }

        if (Subscriptions.Count > 0 && (Identity.Scopes & AccessScopes.Read) == AccessScopes.None)
        {
            // The client has authenticated anew with fewer rights, or has lost them.
            Subscriptions.Clear();
            IsEnding = true;
        }

        _parser.Trim();
        return (Replies.Length == 0 && !IsEnding) || await Output.SendAsync(Replies);
    }

    private async ValueTask RefuseAsync(RequestStatus status)
    {
        await Data.CommitAsync();
        Node.Metrics.CountError();
        if (Transaction is { } transaction)
        {
            transaction.HasFailed = true;
        }

        switch (status)
        {
            case RequestStatus.Broken:
                Replies.Error($"ERR Protocol error: {_parser.Problem}");
                IsEnding = true;
                break;
            case RequestStatus.TooLarge:
                Replies.Error(
                    $"ERR The command is larger than {Node.Limits.MaxCommandBytes} bytes, which a document may have; "
                        + "it was not executed."
                );
                break;
            default:
                Replies.Error(ReplyBuffer.NoMemory);
                break;
        }
    }

    private async Task TryReportAsync()
    {
        try
        {
            Replies.Clear();
            Replies.Error($"ERR {RequestGate.OwnFault}");
            await Output.SendAsync(Replies);
            await _connection.Transport.Output.CompleteAsync();
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // The client left.
        }
    }

    // A client that vanished without closing its connection must not hold it.
    private void KeepAlive()
    {
        try
        {
            _connection
                .Features.Get<IConnectionSocketFeature>()
                ?.Socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
        }
        catch (SocketException)
        {
            // The client has left already.
        }
    }

    private static string TextOf(EndPoint? endpoint) =>
        endpoint is IPEndPoint { Address.IsIPv4MappedToIPv6: true } mapped
            ? new IPEndPoint(mapped.Address.MapToIPv4(), mapped.Port).ToString()
            : endpoint?.ToString() ?? string.Empty;
}

/// <summary>How the wait of a blocking command ended.</summary>
internal enum WaitEnd : byte
{
    /// <summary>A change came.</summary>
    Changed,

    /// <summary>No change came in time.</summary>
    TimedOut,

    /// <summary>The client lost its rights; the error is appended.</summary>
    Refused,
}

/// <summary>Which replies a client wants (CLIENT REPLY).</summary>
internal enum ReplyMode : byte
{
    /// <summary>All.</summary>
    On,

    /// <summary>None.</summary>
    Off,

    /// <summary>All but that of the current command, CLIENT REPLY SKIP itself.</summary>
    SkipThis,

    /// <summary>All but that of the current command, the one after CLIENT REPLY SKIP.</summary>
    SkipNext,
}
