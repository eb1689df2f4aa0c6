using System.Text.Json;
using Rookery.Board;
using Rookery.Server.Operations;

namespace Rookery.Server.Observation;

/// <summary>The state of a node at one moment. Immutable once it is published.</summary>
/// <param name="UnixMilliseconds">Time by the node's own clock.</param>
internal sealed record NodeSample(long UnixMilliseconds)
{
    private readonly double[] _figures = NewFigures();

    /// <summary>Why the node does not serve documents; null if it does.</summary>
    public string? Reason { get; init; }

    /// <summary>The release of the image that the machine runs; null on machines without the image.</summary>
    public string? ImageRelease { get; init; }

    /// <summary>Model of the board; null if unknown.</summary>
    public string? Model { get; init; }

    /// <summary>Whether the board is simulated.</summary>
    public bool IsSimulated { get; init; }

    /// <summary>The throttling flags that the board can report.</summary>
    public Throttling KnownFlags { get; init; }

    /// <summary>The throttling flags that are set now.</summary>
    public Throttling ThrottledNow { get; init; }

    /// <summary>The throttling flags that were set at some time since the board booted.</summary>
    public Throttling ThrottledSinceBoot { get; init; }

    /// <summary>Whether the node's clock follows a time source; null if unknown.</summary>
    public bool? IsClockSynchronised { get; init; }

    /// <summary>All figures, by their number; NaN for unknown ones.</summary>
    public ReadOnlySpan<double> All => _figures;

    /// <summary>A figure; null if unknown. It is set only while the sample is built.</summary>
    public double? this[Figure figure]
    {
        get => double.IsNaN(_figures[(int)figure]) ? null : _figures[(int)figure];
        set => _figures[(int)figure] = value is { } known && double.IsFinite(known) ? known : double.NaN;
    }

    /// <summary>Writes the object SAMPLE of docs/reference/http.md.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("UnixMilliseconds"u8, UnixMilliseconds);
        json.WriteString("Version"u8, ProductVersion.Text);
        json.WriteString("ImageRelease"u8, ImageRelease);
        json.WriteBoolean("Ready"u8, Reason is null);
        json.WriteString("Reason"u8, Reason);
        json.WriteString("Model"u8, Model);
        json.WriteBoolean("IsSimulated"u8, IsSimulated);
        WriteFlags(json, "Throttled", ThrottledNow);
        WriteFlags(json, "ThrottledSinceBoot", ThrottledSinceBoot);
        foreach (var figure in Enum.GetValues<Figure>())
        {
            // These figures repeat members written above. Only the history needs them.
            if (figure is not (Figure.ReadyRatio or Figure.UnderVoltageRatio or Figure.ThrottledRatio))
            {
                json.WritePropertyName(Figures.NameOf(figure));
                WriteFigure(json, figure, _figures[(int)figure]);
            }
        }

        if (IsClockSynchronised is { } isSynchronised)
        {
            json.WriteBoolean("IsClockSynchronised"u8, isSynchronised);
        }
        else
        {
            json.WriteNull("IsClockSynchronised"u8);
        }

        json.WriteEndObject();
    }

    /// <summary>Writes a value, rounded to the figure's precision; null for NaN.</summary>
    public static void WriteFigure(Utf8JsonWriter json, Figure figure, double value)
    {
        if (double.IsNaN(value))
        {
            json.WriteNullValue();
        }
        else if (Figures.StepOf(figure) >= 1)
        {
            json.WriteNumberValue((long)Math.Round(value));
        }
        else
        {
            json.WriteNumberValue(Figures.Round(figure, value));
        }
    }

    private void WriteFlags(Utf8JsonWriter json, string name, Throttling flags)
    {
        if (KnownFlags == Throttling.None)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartArray(name);
        BoardHealth.WriteNames(json, flags);
        json.WriteEndArray();
    }

    private static double[] NewFigures()
    {
        double[] unknown = new double[Figures.Count];
        Array.Fill(unknown, double.NaN);
        return unknown;
    }
}
