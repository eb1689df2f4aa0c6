using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Ignores disk operations.</summary>
internal sealed class SilentRecorder : IIoRecorder
{
    public static SilentRecorder Instance { get; } = new();

    public long Begin() => 0;

    public void Record(IoKind kind, long begun, long bytes) { }
}
