import { Component, type ReactNode } from "react";

interface Props {
  /** Shown instead of what cannot be drawn. */
  fallback: ReactNode;
  /** When this changes, drawing is tried again. */
  of?: unknown;
  children: ReactNode;
}

/** What cannot be drawn does not take the rest of the page with it. */
export class ErrorBoundary extends Component<Props, { failed: boolean; of: unknown }> {
  override state = { failed: false, of: this.props.of };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  static getDerivedStateFromProps(props: Props, state: { failed: boolean; of: unknown }) {
    return props.of === state.of ? null : { failed: false, of: props.of };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
