using System.Buffers;
using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Observation;

/// <summary>
/// Sends the state of the cluster to all listeners once a second. The state is built and encoded once for all
/// listeners, and not at all without listeners. A slow listener gets the newest state and misses those in between.
/// </summary>
internal sealed class LiveStream(ServerContext context)
{
    /// <summary>Maximum number of listeners. Each costs a connection and some KiB a second.</summary>
    public const int MaximumListeners = 32;

    /// <summary>Maximum number of listeners with the same token or certificate.</summary>
    public const int MaximumPerName = 8;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly LiveState _state = new(context);
    private readonly ArrayBufferWriter<byte> _buffer = new(16 << 10);
    private TaskCompletionSource<byte[]> _next = NewSignal();
    private byte[]? _newest;
    private readonly Dictionary<string, int> _byName = new(StringComparer.Ordinal);
    private int _listeners;
    private bool _isRunning;

    /// <summary>Begins to listen; null if the limit is reached. Dispose the result to end.</summary>
    /// <param name="name">Name of the credential; null if none is needed.</param>
    /// <param name="refusal">The reason, if the result is null.</param>
    public Listener? TryListen(string? name, out string refusal)
    {
        refusal = string.Empty;
        lock (_gate)
        {
            if (_listeners == MaximumListeners)
            {
                refusal =
                    $"{MaximumListeners} pages follow this node already, the maximum. Close one, or open "
                    + $"another node's page: each shows all nodes.";
                return null;
            }

            if (name is not null)
            {
                int ofName = _byName.GetValueOrDefault(name);
                if (ofName == MaximumPerName)
                {
                    refusal =
                        $"{MaximumPerName} pages follow this node as '{name}' already, the maximum for one "
                        + $"name. Close one, or open another node's page: each shows all nodes.";
                    return null;
                }

                _byName[name] = ofName + 1;
            }

            _listeners++;
            var listener = new Listener(this, name, _newest, _next.Task);
            if (!_isRunning)
            {
                _isRunning = context.Background.TryBegin("the live view", RunAsync);
            }

            return listener;
        }
    }

    private async Task RunAsync()
    {
        using var watching = context.Observation.Watch();
        using var timer = new PeriodicTimer(Interval, context.Time);
        try
        {
            do
            {
                Publish();
            } while (await timer.WaitForNextTickAsync(context.Stopping) && HasListeners());
        }
        catch (OperationCanceledException)
        {
            // The node stops.
        }
        finally
        {
            lock (_gate)
            {
                _isRunning = false;
                _newest = null;
                if (_listeners > 0 && !context.Stopping.IsCancellationRequested)
                {
                    // The state could not be built; try again in a second.
                    _isRunning = context.Background.TryBegin("the live view", RunAgainAsync);
                }
            }
        }
    }

    private async Task RunAgainAsync()
    {
        await Task.Delay(Interval, context.Time, context.Stopping)
            .ContinueWith(
                static _ => { },
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default
            );
        await RunAsync();
    }

    private bool HasListeners()
    {
        lock (_gate)
        {
            return _listeners > 0;
        }
    }

    private void Publish()
    {
        _buffer.ResetWrittenCount();
        _buffer.Write("event: state\ndata: "u8);
        using (var json = new Utf8JsonWriter(_buffer))
        {
            _state.WriteTo(json);
        }

        _buffer.Write("\n\n"u8);
        byte[] frame = _buffer.WrittenSpan.ToArray();
        TaskCompletionSource<byte[]> signal;
        lock (_gate)
        {
            _newest = frame;
            signal = _next;
            _next = NewSignal();
        }

        signal.SetResult(frame);
    }

    private Task<byte[]> NextFrame()
    {
        lock (_gate)
        {
            return _next.Task;
        }
    }

    private void RemoveListener(string? name)
    {
        lock (_gate)
        {
            Invariant.Holds(--_listeners >= 0, "a listener that leaves was counted");
            if (name is not null && --_byName[name] == 0)
            {
                _byName.Remove(name);
            }
        }
    }

    private static TaskCompletionSource<byte[]> NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>One listener. Not thread-safe.</summary>
    public sealed class Listener(LiveStream stream, string? name, byte[]? newest, Task<byte[]> next) : IDisposable
    {
        private byte[]? _pendingFrame = newest;
        private Task<byte[]> _next = next;
        private bool _isOver;

        /// <summary>
        /// Waits for the next event and returns the bytes to send; null after <paramref name="timeout"/> without an
        /// event.
        /// </summary>
        public async Task<byte[]?> NextAsync(TimeSpan timeout, TimeProvider time, CancellationToken cancellationToken)
        {
            if (_pendingFrame is { } known)
            {
                _pendingFrame = null;
                return known;
            }

            try
            {
                byte[] frame = await _next.WaitAsync(timeout, time, cancellationToken);
                _next = stream.NextFrame();
                return frame;
            }
            catch (TimeoutException)
            {
                return null;
            }
        }

        /// <inheritdoc/>
        public void Dispose()
        {
            if (!_isOver)
            {
                _isOver = true;
                stream.RemoveListener(name);
            }
        }
    }
}
