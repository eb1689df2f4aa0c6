using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.Extensions.Logging;
using Rookery.Redis.Commands;
using Rookery.Redis.Protocol;
using Rookery.Server;
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

    private readonly ConnectionContext _connection;
    private readonly RequestParser _parser;
    private readonly CommandDispatch _dispatch;
    private readonly CancellationTokenSource _ending;

    private RedisConnection(RedisNode node, ConnectionContext connection)
    {
        (Node, _connection) = (node, connection);
        Id = node.Clients.NextId();
        ConnectedAt = LastCommandAt = node.Context.Time.GetTimestamp();
        _parser = new RequestParser(node.Limits, node.Memory);
        _ending = CancellationTokenSource.CreateLinkedTokenSource(connection.ConnectionClosed, node.Context.Stopping);
        Identity = new ConnectionIdentity(node, connection);
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

    public ReplyBuffer Replies { get; } = new();

    public ReplyOutput Output { get; }

    public DataCommands Data { get; }

    public Messages.Subscriptions Subscriptions { get; }

    /// <summary>The transaction that MULTI began; null without one.</summary>
    public Transaction? Transaction { get; set; }

    /// <summary>Which replies the client wants.</summary>
    public ReplyMode ReplyMode { get; set; }

    /// <summary>Whether the connection ends after the replies so far.</summary>
    public bool IsEnding { get; set; }

    /// <summary>Cancelled when the client is gone or the node stops.</summary>
    public CancellationToken Ended => _ending.Token;

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
    /// Returns whether the client does not want the reply of the current command, and passes to the next.
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

    /// <summary>Accepts large commands from now on, because the client has authenticated.</summary>
    public void TrustClient() => _parser.IsTrusted = true;

    /// <summary>Ends the connection at once; any thread may call it.</summary>
    public void Kill() => _connection.Abort(new ConnectionAbortedException("Another client killed the connection."));

    /// <inheritdoc/>
    public void Dispose()
    {
        Node.Clients.Remove(this);
        Subscriptions.Dispose();
        Data.Dispose();
        Output.Dispose();
        _parser.Dispose();
        Replies.Release();
        _ending.Dispose();
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
    }

    private async Task ReadAsync()
    {
        Identity.Refresh();
        _parser.IsTrusted = Identity.IsKnown;
        var input = _connection.Transport.Input;
        while (!IsEnding && !Node.Context.Stopping.IsCancellationRequested)
        {
            var read = input.ReadAsync(Ended);
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

    // A client that must authenticate, or is inside a command, may not pause for ever.
    private async ValueTask<System.IO.Pipelines.ReadResult> WaitForBytesAsync(
        ValueTask<System.IO.Pipelines.ReadResult> read
    )
    {
        TimeSpan? limit =
            !Identity.IsKnown ? AuthenticationTimeout - Node.Context.Time.GetElapsedTime(ConnectedAt)
            : _parser.IsInsideCommand ? MaxPause
            : null;
        if (limit is not { } pause)
        {
            return await read;
        }

        var task = read.AsTask();
        try
        {
            return await task.WaitAsync(pause < TimeSpan.Zero ? TimeSpan.Zero : pause, Node.Context.Time);
        }
        catch (TimeoutException)
        {
            _connection.Abort(new ConnectionAbortedException("The client did not send the rest in time."));
            return await task;
        }
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

                if (Replies.Length > ReplyOutput.PieceBytes && !await Output.SendAsync(Replies))
                {
                    return false;
                }
            }

            await Data.CommitAsync();
        }
        finally
        {
            Data.EndBurst();
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
                Replies.Error(
                    "OOM command not allowed: the memory of the node (--memory) is in use. Send smaller values."
                );
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

    // A client that vanished without a word must not hold its connection.
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
