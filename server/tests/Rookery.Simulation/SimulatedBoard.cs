using Rookery.Board;

namespace Rookery.Simulation;

/// <summary>A board whose readings a test sets.</summary>
public sealed class SimulatedBoard : IBoard
{
    public bool IsSimulated => true;

    public string? Model { get; set; } = "simulated";

    public string? SerialNumber { get; set; }

    /// <summary>The next reading.</summary>
    public BoardReading Next { get; set; }

    public IReadOnlyList<StorageReading> Storage { get; set; } = [];

    /// <summary>The number of readings so far.</summary>
    public int Reads { get; private set; }

    public bool IsDisposed { get; private set; }

    public BoardReading Read()
    {
        Reads++;
        return Next;
    }

    /// <summary>Called before each read of <see cref="Storage"/>, for example to hang as a driver does.</summary>
    public Action BeforeReadStorage { get; set; } = static () => { };

    public IReadOnlyList<StorageReading> ReadStorage()
    {
        BeforeReadStorage();
        return Storage;
    }

    /// <summary>The use of the machine that <see cref="ReadUse"/> returns.</summary>
    public MachineUse Use { get; set; }

    public MachineUse ReadUse() => Use;

    public IBoardLight? Light { get; set; }

    public void Dispose() => IsDisposed = true;
}
