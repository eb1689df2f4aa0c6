namespace Rookery.Platform.Tests;

/// <summary>A directory on the real disk that is removed after the test.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("rookery-disk-").FullName;

    public string this[string name] => System.IO.Path.Join(Path, name);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
