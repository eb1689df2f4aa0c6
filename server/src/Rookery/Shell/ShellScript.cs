using System.Text;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Queries.Language;

namespace Rookery.Shell;

/// <summary>Reads the statements of a script as soon as each is complete. The last one needs no semicolon.</summary>
/// <param name="input">The script.</param>
internal sealed class ShellScript(TextReader input)
{
    private readonly Queue<(string Statement, int Line)> _ready = new();
    private string _rest = string.Empty;
    private int _restLine = 1;
    private int _lines;
    private bool _hasEnded;

    /// <summary>The line in which the last statement begins, from 1.</summary>
    public int Line { get; private set; }

    /// <summary>Returns the next statement; null at the end.</summary>
    /// <exception cref="AdminException">The script is not UTF-8, or a statement is too long.</exception>
    public string? Read()
    {
        while (_ready.Count == 0 && !_hasEnded)
        {
            ReadLine();
        }

        if (!_ready.TryDequeue(out var next))
        {
            return null;
        }

        Line = next.Line;
        return next.Statement;
    }

    private void ReadLine()
    {
        string? line = NextLine();
        if (line is null)
        {
            _hasEnded = true;
            int start = RqlStatement.SkipBlanks(_rest, 0);
            if (start < _rest.Length)
            {
                _ready.Enqueue((_rest[start..].Trim(), _restLine + _rest.AsSpan(0, start).Count('\n')));
            }

            return;
        }

        _lines++;
        string text = _rest.Length == 0 ? line : $"{_rest}\n{line}";
        if (text.Length > EditedText.MaxCharacters)
        {
            throw new AdminException(
                $"The statement in line {_restLine} has more than {EditedText.MaxCharacters} characters.",
                ExitCode.BadInput
            );
        }

        // A line without a semicolon or a backslash completes no statement, so it need not be read again.
        if (line.AsSpan().ContainsAny(';', '\\') || string.IsNullOrWhiteSpace(text))
        {
            Take(text);
        }
        else
        {
            _rest = text;
        }
    }

    private string? NextLine()
    {
        try
        {
            return input.ReadLine();
        }
        catch (DecoderFallbackException)
        {
            throw new AdminException($"Line {_lines + 1} of the script is not valid UTF-8.", ExitCode.BadInput);
        }
    }

    private void Take(string text)
    {
        var statements = ShellText.Split(text, out int rest);
        foreach (var (statement, offset) in statements)
        {
            _ready.Enqueue((statement, _restLine + text.AsSpan(0, offset).Count('\n')));
        }

        int blanksEnd = RqlStatement.SkipBlanks(text, rest);
        bool isBlank = blanksEnd == text.Length;
        _restLine = isBlank ? _lines + 1 : _restLine + text.AsSpan(0, rest).Count('\n');
        _rest = isBlank ? string.Empty : text[rest..];
    }
}
