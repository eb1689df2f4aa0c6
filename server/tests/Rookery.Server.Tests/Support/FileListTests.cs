using System.Globalization;
using Rookery.Support;

namespace Rookery.Server.Tests.Support;

/// <summary>The list of the node's files in a debug package.</summary>
public sealed class FileListTests : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("rookery-files-");

    [Fact]
    public void Contents_of_attachments_are_counted_and_other_files_are_listed_up_to_a_limit()
    {
        for (int number = 0; number < 9; number++)
        {
            Write(string.Create(CultureInfo.InvariantCulture, $"attachments/{number % 2}/ab/ab{number}"));
        }

        Write("b");
        Write("a/c");
        string list = SystemParts.List([_directory.FullName], maxFiles: 2);
        Assert.EndsWith(
            " a/c\n",
            list[..(list.IndexOf("a/c", StringComparison.Ordinal) + 4)],
            StringComparison.Ordinal
        );
        Assert.EndsWith(" b\n5 files in attachments/0\n4 files in attachments/1\n", list, StringComparison.Ordinal);

        Write("d");
        Assert.EndsWith(
            "and more than these 2\n",
            SystemParts.List([_directory.FullName, "/nowhere"], maxFiles: 2),
            StringComparison.Ordinal
        );
    }

    public void Dispose() => _directory.Delete(recursive: true);

    private void Write(string name)
    {
        string path = Path.Combine(_directory.FullName, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, "x");
    }
}
