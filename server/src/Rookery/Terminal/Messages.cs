using System.Text;
using Rookery.Hosting;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>
/// Stderr for messages. They are written through <see cref="VisibleText"/>, because they may contain text of other
/// machines. A message that cannot be written is lost, and the work continues. A command reports the loss at its end.
/// </summary>
internal sealed class Messages : TextWriter
{
    private static readonly Encoding Utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);

    private string? _lost;

    private Messages() => CoreNewLine = ['\n'];

    public override Encoding Encoding => Utf8;

    private static Messages Instance { get; } = new();

    /// <summary>Redirects the console's stdout and stderr to streams that report failed writes.</summary>
    public static void RedirectConsole()
    {
        Console.SetOut(new StreamWriter(Output.Visible, Utf8) { AutoFlush = true });
        Console.SetError(Instance);
    }

    /// <summary>
    /// Returns the exit code of a command: a success becomes a failure if messages were lost. Reports the loss if
    /// stderr can be written again.
    /// </summary>
    /// <param name="code">The command's own exit code.</param>
    public static int CodeOf(int code)
    {
        if (Instance._lost is not { } reason || code != ExitCode.Success)
        {
            return code;
        }

        Instance.WriteLine($"The command succeeded, but some of its messages could not be written: {reason}");
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

    /// <summary>Writes text with control sequences for the terminal.</summary>
    public static void Draw(string text) => Instance._lost = WhyNotWritten(text) ?? Instance._lost;

    /// <summary>Writes to stderr without escaping.</summary>
    /// <returns>Why the write failed, as a sentence; null if it succeeded, or if stderr is closed.</returns>
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
