using System.Text;
using Rookery.Hosting;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>
/// Stderr, for sentences in which names and reasons of others stand: written as <see cref="VisibleText"/>.
/// What it does not take is lost, and no reason to give up the work of which it tells: a command says so once it has
/// ended, and a node goes on.
/// </summary>
internal sealed class Messages : TextWriter
{
    private static readonly Encoding Utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);

    private string? _lost;

    private Messages() => CoreNewLine = ['\n'];

    public override Encoding Encoding => Utf8;

    private static Messages Instance { get; } = new();

    /// <summary>Lets all text of this process go to stdout and stderr by what knows of their failures.</summary>
    public static void Take()
    {
        Console.SetOut(new StreamWriter(Output.Visible, Utf8) { AutoFlush = true });
        Console.SetError(Instance);
    }

    /// <summary>
    /// The code of a command that ended: a success whose messages were lost is none. It says so where that is possible
    /// again.
    /// </summary>
    /// <param name="code">How it ended.</param>
    public static int CodeOf(int code)
    {
        if (Instance._lost is not { } reason || code != ExitCode.Success)
        {
            return code;
        }

        Instance.WriteLine(
            $"The command did what it was asked, but some of its messages could not be written here: {reason}"
        );
        return ExitCode.Failure;
    }

    public override void Write(char value) => Write([value]);

    public override void Write(char[] buffer, int index, int count) => Write(buffer.AsSpan(index, count));

    public override void Write(string? value) => Write(value.AsSpan());

    public override void WriteLine(string? value) => Write($"{value}\n".AsSpan());

    public override void Write(ReadOnlySpan<char> buffer)
    {
        var visible = new StringBuilder(buffer.Length);
        VisibleText.Append(visible, buffer);
        Draw(visible.ToString());
    }

    /// <summary>Writes what a terminal is to obey.</summary>
    public static void Draw(string text) => Instance._lost = WhyNotWritten(text) ?? Instance._lost;

    /// <summary>Writes to stderr, as it is.</summary>
    /// <returns>Why it could not, as a sentence; null too where nobody wants to read it.</returns>
    public static string? WhyNotWritten(ReadOnlySpan<char> text)
    {
        byte[] bytes = new byte[Utf8.GetByteCount(text)];
        Utf8.GetBytes(text, bytes);
        try
        {
            StandardStream.Error.Write(bytes);
            return null;
        }
        catch (OutputFailedException failure)
        {
            return failure.IsClosed ? null : failure.Reason;
        }
        catch (OutputClosedException)
        {
            return null;
        }
    }
}
