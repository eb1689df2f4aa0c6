using System.Text;

namespace Rookery.Raft.Tests.Transcripts;

/// <summary>
/// A scenario of a cluster in a text file. Lines that begin with <c>#</c> describe it, lines that begin with
/// <c>&gt;</c> are commands, and the lines after a command are its expected effects. A line <c># Falls: NAME</c> names
/// a planted bug that changes the effects: with it the transcript must fail.
/// </summary>
internal sealed class Transcript
{
    /// <summary>If 1, the tests replace the expected effects by the observed ones.</summary>
    public const string RewriteVariable = "TRANSCRIPTS_REWRITE";

    private const string FallsMark = "# Falls: ";

    private readonly string _text;

    private Transcript(string path) => (Path, _text) = (path, File.ReadAllText(path));

    public string Path { get; }

    public static string[] Names =>
        [.. Directory.GetFiles(Folder, "*.txt").Select(System.IO.Path.GetFileNameWithoutExtension).Order()!];

    /// <summary>The names of the planted bugs that must change the effects.</summary>
    public string[] Falls =>
        [
            .. Lines
                .Where(line => line.StartsWith(FallsMark, StringComparison.Ordinal))
                .Select(line => line[FallsMark.Length..]),
        ];

    public IReadOnlyList<string> Lines => _text.TrimEnd('\n').Split('\n');

    private static string Folder
    {
        get
        {
            string? directory = AppContext.BaseDirectory;
            while (directory is not null && !File.Exists(System.IO.Path.Join(directory, "Rookery.slnx")))
            {
                directory = System.IO.Path.GetDirectoryName(directory);
            }

            return System.IO.Path.Join(directory, "cluster", "tests", "Rookery.Raft.Tests", "Transcripts");
        }
    }

    public static Transcript Read(string name) => new(System.IO.Path.Join(Folder, name + ".txt"));

    /// <summary>
    /// Executes the commands. Returns the text with the observed effects instead of the expected ones.
    /// </summary>
    public string Play(PlantedBug bug)
    {
        var player = new TranscriptPlayer(bug);
        StringBuilder played = new();
        bool isExpectedEffect = false;
        foreach (string line in Lines)
        {
            bool isCommand = line.StartsWith("> ", StringComparison.Ordinal);
            isExpectedEffect &= line.Length > 0 && line[0] != '#' && !isCommand;
            if (isExpectedEffect)
            {
                continue;
            }

            played.Append(line).Append('\n');
            if (isCommand)
            {
                Array.ForEach(player.Play(line[2..]), effect => played.Append("  ").Append(effect).Append('\n'));
                isExpectedEffect = true;
            }
        }

        return played.ToString();
    }

    /// <summary>Describes the first difference between expected and observed effects; null for none.</summary>
    public string? DifferenceWith(string played)
    {
        string[] expected = [.. Lines],
            actual = played.TrimEnd('\n').Split('\n');
        int line = expected
            .Zip(actual)
            .TakeWhile(pair => string.Equals(pair.First, pair.Second, StringComparison.Ordinal))
            .Count();
        if (line == expected.Length && line == actual.Length)
        {
            return null;
        }

        string command = actual.Take(line + 1).LastOrDefault(text => text.StartsWith('>')) ?? "the first line";
        return $"{Path}:{line + 1}, after '{command}': expected '{expected.ElementAtOrDefault(line)}', "
            + $"found '{actual.ElementAtOrDefault(line)}'. If that is right, "
            + $"run the tests with {RewriteVariable}=1 to write it.";
    }

    public void Write(string played) => File.WriteAllText(Path, played);
}
