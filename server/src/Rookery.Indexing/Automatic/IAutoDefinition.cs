namespace Rookery.Indexing.Automatic;

/// <summary>
/// What an index holds that a query made. Its name follows from that, so all members that need the same one define the
/// same one.
/// </summary>
public interface IAutoDefinition
{
    /// <summary>What it is called.</summary>
    string Name { get; }

    /// <summary>The definition as it goes through the log: one form for one content.</summary>
    byte[] ToJson();
}
