namespace Rookery.Terminal;

/// <summary>Colours text from the terminal's own palette, so that it suits dark and light terminals.</summary>
/// <param name="isOn">Whether to colour; otherwise text stays plain.</param>
internal sealed class Paint(bool isOn)
{
    /// <summary>Colours for results on stdout.</summary>
    public static Paint Output { get; } = new(Tty.HasColours);

    public string Bold(string text) => With(text, "1");

    public string Dim(string text) => With(text, "2");

    public string Good(string text) => With(text, "32");

    public string Warning(string text) => With(text, "33");

    public string Bad(string text) => With(text, "31");

    public string Accent(string text) => With(text, "36");

    public string Reverse(string text) => With(text, "7");

    private string With(string text, string code) => isOn && text.Length > 0 ? $"\u001b[{code}m{text}\u001b[0m" : text;
}
