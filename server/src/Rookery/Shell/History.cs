using System.Text;

namespace Rookery.Shell;

/// <summary>
/// The statements that a user entered, oldest first. Their file is ~/.local/state/rookery/shell-history, or the same
/// below XDG_STATE_HOME, readable only by the user; it has one line per statement.
/// </summary>
internal sealed class History
{
    /// <summary>The maximum number of statements.</summary>
    public const int MaxEntries = 1000;

    private const int MaxEntryCharacters = 8 << 10;
    private const long MaxFileBytes = 4 << 20;
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly string? _file;
    private readonly List<string> _entries = [];

    private History(string? file) => _file = file;

    /// <summary>The statements.</summary>
    public IReadOnlyList<string> Entries => _entries;

    /// <summary>Why the file cannot be read or written, as a sentence; null if it can.</summary>
    public string? Problem { get; private set; }

    /// <summary>The file's path; null for a user without a home directory.</summary>
    private static string? FileName
    {
        get
        {
            if (Environment.GetEnvironmentVariable("XDG_STATE_HOME") is { Length: > 0 } xdg && Path.IsPathRooted(xdg))
            {
                return Path.Join(xdg, "rookery", "shell-history");
            }

            return Environment.GetEnvironmentVariable("HOME") is { Length: > 0 } home
                ? Path.Join(home, ".local", "state", "rookery", "shell-history")
                : null;
        }
    }

    /// <summary>Reads the user's file. If it cannot be read, the history lasts until the shell ends.</summary>
    public static History OfUser() => Open(FileName);

    /// <summary>Reads a file; null for a history without one.</summary>
    internal static History Open(string? file)
    {
        var history = new History(file);
        history.Guard(history.Load);
        return history;
    }

    /// <summary>
    /// Adds a statement. One that begins with a blank, repeats the last one or is longer than 8,192 characters is left
    /// out.
    /// </summary>
    public void Add(string statement)
    {
        if (
            statement.Length is 0 or > MaxEntryCharacters
            || char.IsWhiteSpace(statement[0])
            || (_entries.Count > 0 && string.Equals(_entries[^1], statement, StringComparison.Ordinal))
        )
        {
            return;
        }

        _entries.Add(statement);
        if (_entries.Count > MaxEntries)
        {
            _entries.RemoveAt(0);
        }

        Guard(() => Append(statement));
    }

    private void Load()
    {
        if (_file is null || !File.Exists(_file))
        {
            return;
        }

        if (new FileInfo(_file).Length > MaxFileBytes)
        {
            throw new IOException($"The history {_file} holds more than 4 MiB, so it is not used. Delete it.");
        }

        string[] lines = File.ReadAllLines(_file);
        _entries.AddRange(lines.TakeLast(MaxEntries).Select(FromLine));
        File.SetUnixFileMode(_file, OwnerOnly);
        if (lines.Length > MaxEntries)
        {
            // The rename keeps the old history if the process ends meanwhile.
            string shorter = $"{_file}.new";
            File.Delete(shorter);
            using (Stream file = File.Open(shorter, Writing(FileMode.CreateNew)))
            {
                file.Write(Encoding.UTF8.GetBytes(string.Concat(_entries.Select(ToLine))));
            }

            File.Move(shorter, _file, overwrite: true);
        }
    }

    private void Append(string statement)
    {
        if (_file is null || Problem is not null)
        {
            return;
        }

        Directory.CreateDirectory(Path.GetDirectoryName(_file)!, OwnerOnly | UnixFileMode.UserExecute);
        using Stream file = File.Open(_file, Writing(FileMode.Append));
        file.Write(Encoding.UTF8.GetBytes(ToLine(statement)));
    }

    private static FileStreamOptions Writing(FileMode mode) =>
        new()
        {
            Mode = mode,
            Access = FileAccess.Write,
            Share = FileShare.ReadWrite,
            UnixCreateMode = OwnerOnly,
        };

    private void Guard(Action work)
    {
        try
        {
            work();
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Problem = $"The history is not stored: {failure.Message}";
        }
    }

    private static string ToLine(string entry) =>
        entry.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\n", "\\n", StringComparison.Ordinal) + "\n";

    private static string FromLine(string line)
    {
        var entry = new StringBuilder(line.Length);
        for (int position = 0; position < line.Length; position++)
        {
            if (line[position] == '\\' && position + 1 < line.Length)
            {
                position++;
                entry.Append(line[position] == 'n' ? '\n' : line[position]);
            }
            else
            {
                entry.Append(line[position]);
            }
        }

        return entry.ToString();
    }
}
