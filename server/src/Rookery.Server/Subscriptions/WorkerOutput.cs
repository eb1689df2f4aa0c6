using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// Sends messages to a worker. A message that was begun is sent to its end even if the connection is ending, so that
/// the client can read the message after it. Aborts the connection if the client takes too long: a client that does not
/// read would hold memory forever.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="connection">The connection.</param>
/// <param name="ending">Cancelled when the connection ends.</param>
internal sealed class WorkerOutput(ServerContext context, ConnectionContext connection, CancellationToken ending)
{
    // The client must take each part of a message in this time: 1 KiB/s.
    private const int MaxWriteBytes = 64 << 10;
    private static readonly TimeSpan MaxWriting = TimeSpan.FromMinutes(1);

    private long _heartbeatAt = context.Time.GetTimestamp();
    private long? _endingSince;

    /// <summary>Waits for a task, for one interval at most, and then sends a sign of life.</summary>
    public async Task WaitAsync(Task task)
    {
        await Task.WhenAny(task, Task.Delay(SubscriptionConnection.HeartbeatInterval, context.Time, ending));
        ending.ThrowIfCancellationRequested();
        if (!task.IsCompleted)
        {
            await SendHeartbeatWhenDueAsync();
        }
    }

    /// <summary>Sends a sign of life if nothing was sent for an interval.</summary>
    public async Task SendHeartbeatWhenDueAsync()
    {
        if (context.Time.GetElapsedTime(_heartbeatAt) >= SubscriptionConnection.HeartbeatInterval)
        {
            await SendAsync(ServerMessages.Heartbeat.ToArray());
        }
    }

    /// <summary>Sends a message, or a part of one that follows other parts.</summary>
    public async Task SendAsync(ReadOnlyMemory<byte> message, bool isPart = false)
    {
        if (!isPart)
        {
            ending.ThrowIfCancellationRequested();
        }

        while (!message.IsEmpty)
        {
            if (ending.IsCancellationRequested && TimeLeftToEnd() == TimeSpan.Zero)
            {
                throw Cut();
            }

            _heartbeatAt = context.Time.GetTimestamp();
            var part = message[..Math.Min(message.Length, MaxWriteBytes)];
            message = message[part.Length..];
            var writing = connection.Transport.Output.WriteAsync(part, CancellationToken.None);
            var flushed = writing.IsCompletedSuccessfully ? writing.Result : await FinishAsync(writing.AsTask());
            if (flushed.IsCompleted)
            {
                throw new ConnectionAbortedException("The client has left.");
            }
        }
    }

    private async Task<FlushResult> FinishAsync(Task<FlushResult> writing)
    {
        try
        {
            return await writing.WaitAsync(MaxWriting, context.Time, ending);
        }
        catch (Exception ended) when (ended is TimeoutException or OperationCanceledException)
        {
            if (ended is OperationCanceledException)
            {
                await Task.WhenAny(writing, Task.Delay(TimeLeftToEnd(), context.Time));
            }

            if (!writing.IsCompleted)
            {
                var cut = Cut();
                await Task.WhenAny(writing, Task.Delay(SubscriptionConnection.EndTimeout, context.Time));
                throw cut;
            }

            return await writing;
        }
    }

    private TimeSpan TimeLeftToEnd()
    {
        _endingSince ??= context.Time.GetTimestamp();
        var left = SubscriptionConnection.EndTimeout - context.Time.GetElapsedTime(_endingSince.Value);
        return left < TimeSpan.Zero ? TimeSpan.Zero : left;
    }

    private ConnectionAbortedException Cut()
    {
        var cut = new ConnectionAbortedException("The client does not read its documents.");
        connection.Abort(cut);
        return cut;
    }
}
