using System.Globalization;

namespace Rookery.Platform.Tests;

/// <summary>Random calls for which all disks must give the same results.</summary>
internal sealed class RandomDiskSteps(int seed, string directory)
{
    private static readonly string[] Names = ["a", "b", "d/a", "d/b", "d/e/a", "d", "d/e"];
    private readonly Random _random = new(seed);

    /// <summary>Makes a call to a disk. Returns its result, or "refused".</summary>
    internal static string Outcome(IDisk disk, Func<IDisk, string> step)
    {
        try
        {
            return step(disk);
        }
        catch (DiskException)
        {
            // Which of several errors comes first may differ; DiskContractTests fixes those that callers distinguish.
            return "refused";
        }
    }

    /// <summary>Returns a random call. Its result is what the caller sees.</summary>
    internal Func<IDisk, string> Next()
    {
        string path = DrawPath();
        string other = DrawPath();
        int offset = _random.Next(3000);
        int length = _random.Next(1, 3000);
        byte[] data = new byte[length];
        _random.NextBytes(data);
        return _random.Next(13) switch
        {
            0 or 1 => disk => Change(disk, path, DiskOpen.CreateNew, file => file.Write(data, offset)),
            2 or 3 => disk => Change(disk, path, DiskOpen.ReadWrite, file => file.Write(data, offset)),
            4 => disk => Change(disk, path, DiskOpen.ReadWrite, file => file.SetLength(offset)),
            5 => disk => Change(disk, path, DiskOpen.ReadWrite, file => file.Allocate(offset + 1)),
            6 => disk => Change(disk, path, DiskOpen.Read, file => file.Write(data, offset)),
            7 => disk => Do(() => disk.Rename(path, other)),
            8 => disk => Do(() => disk.Link(path, other)),
            9 => disk => Do(() => disk.Delete(path)),
            10 => disk => Do(() => disk.CreateDirectory(path)),
            11 => disk => Do(() => disk.DeleteDirectory(path)),
            _ => disk => string.Join(',', disk.List(path)) + disk.Exists(other),
        };
    }

    private string DrawPath() => Path.Join(directory, Names[_random.Next(Names.Length)]);

    private static string Do(Action action)
    {
        action();
        return "done";
    }

    /// <summary>Changes a file, and returns its length and a checksum of its content.</summary>
    private static string Change(IDisk disk, string path, DiskOpen mode, Action<IDiskFile> change)
    {
        using var file = disk.Open(path, mode);
        change(file);
        byte[] content = new byte[file.Length + 10];
        int read = file.Read(content, offset: 0);
        return string.Create(CultureInfo.InvariantCulture, $"{file.Length} {read} {Checksum.Of(content)}");
    }
}
