using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>Records no disk work.</summary>
public sealed class NoRecorder : IIoRecorder
{
    /// <summary>The only instance.</summary>
    public static NoRecorder Instance { get; } = new();

    private NoRecorder() { }

    /// <inheritdoc/>
    public long Begin() => 0;

    /// <inheritdoc/>
    public void Record(IoKind kind, long begun, long bytes) { }
}
