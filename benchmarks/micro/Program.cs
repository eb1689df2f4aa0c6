using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Rookery.MicroBenchmarks;

// Runs the benchmarks in this process. Otherwise BenchmarkDotNet would restore and build a project for each of them.
var config = ManualConfig
    .Create(DefaultConfig.Instance)
    .AddJob(Job.ShortRun.WithToolchain(InProcessEmitToolchain.Instance))
    .WithArtifactsPath(Path.Join("artifacts", "benchmarks", "micro"));
BenchmarkSwitcher.FromAssembly(typeof(TextBenchmarks).Assembly).Run(args, config);
