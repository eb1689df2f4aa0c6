using System.Globalization;

namespace Rookery.Server.Operations;

/// <summary>
/// Metrics of the process, with the names of Prometheus' client libraries, and of the garbage collector.
/// </summary>
internal static class ProcessMetrics
{
    public static void Add(PrometheusText text)
    {
        var usage = Environment.CpuUsage;
        text.Counter("process_cpu_seconds_total", "Processor time, user and system.")
            .Sample(usage.TotalTime.TotalSeconds);
        text.Gauge("process_resident_memory_bytes", "Resident memory.").Sample(Environment.WorkingSet);
        text.Gauge("process_start_time_seconds", "When the process began, since 1970 UTC.").Sample(StartUnixSeconds);
        text.Counter("dotnet_gc_collections_total", "Garbage collections, by oldest generation collected.");
        for (int generation = 0; generation <= GC.MaxGeneration; generation++)
        {
            text.Sample(
                GC.CollectionCount(generation),
                ("generation", generation.ToString(CultureInfo.InvariantCulture))
            );
        }

        var memory = GC.GetGCMemoryInfo();
        text.Counter("dotnet_gc_pause_seconds_total", "Time that the process was paused by garbage collections.")
            .Sample(GC.GetTotalPauseDuration().TotalSeconds);
        text.Gauge("dotnet_gc_committed_bytes", "Memory the managed heap has committed.")
            .Sample(memory.TotalCommittedBytes);
        text.Gauge("dotnet_gc_heap_bytes", "Managed memory after the last collection.").Sample(memory.HeapSizeBytes);
        text.Counter("dotnet_gc_allocated_bytes_total", "Managed memory allocated.")
            .Sample(GC.GetTotalAllocatedBytes());
        text.Gauge("dotnet_threads", "Threads of the pool.").Sample(ThreadPool.ThreadCount);
        text.Gauge("rookery_build_info", "The version that runs.").Sample(1, ("version", ProductVersion.Text));
    }

    private static readonly double StartUnixSeconds = ReadStart();

    private static double ReadStart()
    {
        using var process = System.Diagnostics.Process.GetCurrentProcess();
        return new DateTimeOffset(process.StartTime.ToUniversalTime()).ToUnixTimeMilliseconds() / 1000.0;
    }
}
