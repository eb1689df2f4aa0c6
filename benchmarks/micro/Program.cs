using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Rookery.MicroBenchmarks;

// In this process: a project of its own for each subject would be restored and built first.
var config = ManualConfig
    .Create(DefaultConfig.Instance)
    .AddJob(Job.ShortRun.WithToolchain(InProcessEmitToolchain.Instance))
    .WithArtifactsPath(Path.Join("artifacts", "benchmarks", "micro"));
BenchmarkSwitcher.FromAssembly(typeof(TextBenchmarks).Assembly).Run(args, config);
